/* image.h - a compiled kernel inside the program: IMAGE(name) embeds IMAGE_FOLDER/name.fatbin as image_name. */
#ifndef DEMO_IMAGE_H
#define DEMO_IMAGE_H

#define IMAGE(name)                                                                                                  \
    extern const unsigned char image_##name[];                                                                       \
    __asm__(".pushsection .rodata\n\t.balign 64\n\t.hidden image_" #name "\n\t.global image_" #name "\nimage_" #name \
            ":\n\t.incbin \"" IMAGE_FOLDER "/" #name ".fatbin\"\n\t.popsection");

#endif
