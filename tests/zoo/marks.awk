# marks.awk - how good an answer is.  Reads lines of nine tab-separated columns: the case's name, expected cause (- = none, a decoy), role,
# barrier, then what wsdbg said first: status of its exit, cause, confidence, role, barrier.  Writes a word a line:
#   crb   the hang was called one, cause, role and barrier are right; a letter is "-" where that is wrong or was not said
#   !rb   the cause is proven, says wsdbg, and is another one: the worst answer
#   runs  no hang was called: right for a decoy
#   alarm a decoy was called a hang
# A role without an author's name is "warps A-B": right when these warps are the role's.  The ring's barriers lie at fixed addresses (zoo.cuh).
BEGIN {
    FS = "\t"
    split("producer 0 3 consumer 4 7 epilogue 0 4", word, " ")
    for (i = 1; i in word; i += 3) {
        low[word[i]] = word[i + 1]
        high[word[i]] = word[i + 2]
    }
    low["named-double-arrive consumer"] = 0
    high["named-double-arrive consumer"] = 7
    address["full"] = "mbarrier 0x4(00|08)"
    address["empty"] = "mbarrier 0x41[08]"
    address["empty b"] = address["operand"] = address["done"] = "mbarrier 0x42[08]"
}

function role_is_right(name, role, said,    key, part) {
    if (role == "" || index(said, role) == 1)
        return 1
    if (said !~ /^warps? [0-9]/)
        return 0
    key = (name " " role) in low ? name " " role : role
    split(said, part, /[ ,-]/)
    return part[2] >= low[key] && (part[3] == "" ? part[2] : part[3]) <= high[key]
}

function barrier_is_right(barrier, said) {
    return barrier == "" || index(said, barrier) == 1 || (barrier in address && said ~ "^" address[barrier])
}

{
    if ($2 == "-")
        print $5 == 124 ? "alarm" : "runs"
    else if ($5 != 124 && ($6 == "" || $6 == "SLOW"))
        print "runs"
    else
        print ($6 == $2 ? "c" : $7 == "proven" ? "!" : "-") (role_is_right($1, $3, $8) ? "r" : "-") (barrier_is_right($4, $9) ? "b" : "-")
}
