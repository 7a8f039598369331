-- Calls a script's function, or reads its table, for each match of gsub. `advance` takes a replacement, and gives true and the captures of
-- the next match, or false, the result and the number of replacements. Returns what pcall returns: an error of the script stays as it is.

local pcall, type = pcall, type

local function by_function(advance, replace, more, ...)
    if not more then
        return ...
    end
    return by_function(advance, replace, advance((replace(...))))
end

local function by_table(advance, replacements, more, ...)
    if not more then
        return ...
    end
    return by_table(advance, replacements, advance(replacements[(...)]))
end

local function replaced(advance, by)
    local go_on = type(by) == "table" and by_table or by_function
    return go_on(advance, by, advance())
end

return function(advance, by)
    return pcall(replaced, advance, by)
end
