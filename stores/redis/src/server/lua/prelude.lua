-- What scripts see: Redis's globals, read-only, over the functions of the host language.
-- Returns the scripts' global table, three functions that run a script, and one that says what version of Redis this is.

local natives = ...
local error, next, pairs, pcall, setmetatable, tostring, type, xpcall = error, next, pairs, pcall, setmetatable, tostring, type, xpcall
local explain, place = natives.explain, natives.place

-- Functions of the string library that count their cost.
for name, item in pairs(natives.strings) do
    string[name] = item
end
string.gfind = string.gmatch

local concat, format, match, select = table.concat, string.format, string.match, select

-- The tables that scripts may read but not write, by the empty table that stands for each.
local frozen = {}

local function refuse()
    error("Attempt to modify a readonly table", 2)
end

local function freeze(content)
    local stand_in = {}
    frozen[stand_in] = content
    local shown = setmetatable({}, { __newindex = refuse, __metatable = false })
    frozen[shown] = true
    return setmetatable(stand_in, { __index = content, __newindex = refuse, __metatable = shown })
end

-- Library functions that write to a table without asking its metatable.
local function guarded(write)
    return function(target, ...)
        if frozen[target] then
            error("Attempt to modify a readonly table", 0)
        end
        return write(target, ...)
    end
end

-- The stand-ins are empty: who walks through one is shown what it stands for, but never given the table itself.
local following = natives.walk("next", function(target, key)
    local content = frozen[target]
    return next(type(content) == "table" and content or target, key)
end)

local walking = natives.walk("pairs", function(target)
    if frozen[target] then
        return following, target
    end
    return pairs(target)
end)

local redis = {
    LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
    REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
    call = natives.call, pcall = natives.pcall, sha1hex = natives.sha1hex, setresp = natives.setresp,
    set_repl = natives.set_repl, log = natives.log, acl_check_cmd = natives.acl_check_cmd,
    replicate_commands = function() return true end,
    breakpoint = function() return false end,
    debug = function() end,
}

function redis.status_reply(...)
    local text = ...
    if select("#", ...) ~= 1 or type(text) ~= "string" then
        return { err = "ERR wrong number or type of arguments" }
    end
    return { ok = text }
end

-- The first word is the error's code; a single word gets the code ERR.
function redis.error_reply(...)
    local text = ...
    if select("#", ...) ~= 1 or type(text) ~= "string" then
        return { err = "ERR wrong number or type of arguments" }
    end
    text = match(text, "^%-?(.-)[\r\n]*$")
    if not match(text, " ") then
        text = "ERR " .. text
    end
    return { err = text }
end

-- A failed command travels as an error of the host language; where a script catches it, it is a table.
local function plain(failure)
    if type(failure) == "userdata" then
        return explain(failure)
    end
    return failure
end

local function caught(ok, ...)
    if ok then
        return ok, ...
    end
    return ok, plain((...))
end

local function protected(run)
    return function(...)
        return caught(run(...))
    end
end

-- Redis's own pcall gives the message of an error that is a table.
local function message(ok, ...)
    local failure = ...
    if not ok and type(failure) == "table" and (type(failure.err) == "string" or type(failure.err) == "number") then
        return ok, tostring(failure.err)
    end
    return ok, ...
end

local caught_pcall = protected(pcall)

local numbers = {}
for name, item in pairs(math) do
    numbers[name] = item
end
numbers.randomseed = natives.randomseed
numbers.random = natives.random

local tables = {}
for name, item in pairs(table) do
    tables[name] = item
end
tables.insert = guarded(table.insert)

local routines = {}
for name, item in pairs(coroutine) do
    routines[name] = item
end
routines.resume = protected(coroutine.resume)

-- Lua shows where a table or function lies in memory: that differs from run to run.
local function shown(item)
    local kind = type(item)
    local text = tostring(item)
    if (kind == "table" or kind == "function" or kind == "thread" or kind == "userdata")
        and match(text, "^" .. kind .. ": 0?x?%x+$") then
        return format("%s: 0x%08x", kind, 0)
    end
    return text
end

-- The functions that compile code, which sees the globals of whoever compiles it.
local function loaders(globals, environment)
    local function compiled(code, name)
        local run, failure = natives.compile(code, name, environment)
        if run then
            return run
        end
        return nil, failure
    end

    function globals.load(piece, name)
        local parts = {}
        repeat
            local part = piece()
            parts[#parts + 1] = part
        until part == nil or part == ""
        return compiled(concat(parts), name or "=(load)")
    end

    function globals.loadstring(code, name)
        return compiled(code, name or code)
    end
end

local globals = {
    assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, next = following, pairs = walking,
    pcall = function(...) return message(caught_pcall(...)) end, rawequal = rawequal, rawget = rawget, rawset = guarded(rawset), select = select,
    setmetatable = guarded(setmetatable), tonumber = tonumber, tostring = shown, type = type, unpack = unpack,
    xpcall = function(run, handle)
        return xpcall(run, function(failure) return handle(plain(failure)) end)
    end,
    collectgarbage = function(what) return what == "count" and 64 or 0 end,
    gcinfo = function() return 64 end,
    _VERSION = _VERSION, coroutine = freeze(routines), math = freeze(numbers), redis = freeze(redis),
    string = freeze(string), table = freeze(tables),
}
-- Libraries that are not modelled: reading anything of one is refused with its name.
for _, name in ipairs(natives.lacking) do
    globals[name] = freeze(setmetatable({}, { __index = function() return natives.lacks(name) end }))
end

local environment = freeze(globals)
globals._G = environment
loaders(globals, environment)
getmetatable("").__metatable = freeze({ __index = globals.string })

local function missing(name)
    return format("Script attempted to access nonexistent global variable '%s'", tostring(name))
end
local strict = { __index = function(_, name) error(missing(name), 2) end }
setmetatable(globals, strict)

local function located(failure)
    failure = plain(failure)
    if type(failure) ~= "table" then
        failure = { err = "ERR " .. tostring(failure) }
    end
    failure.line = place()
    return failure
end

-- A script's instructions are counted from the first of the function that runs it, and one that does not end is to be stopped
-- where it always was: seven instructions to no effect stand in the place of those that once told the version here, and of
-- those that make the tables.
local function run(script, keys, argv)
    globals.KEYS, globals.ARGV = keys, argv
    local _, _, _, _, _, _, _ = 1, 1, 1, 1, 1, 1, 1
    return xpcall(script, located)
end

-- As run, with one key or two and few arguments: nearly all scripts are called so, and tables are made soonest here.
local function run_one(script, key, ...)
    globals.KEYS, globals.ARGV = { key }, { ... }
    local _, _ = 1, 1
    return xpcall(script, located)
end

local function run_two(script, first, second, ...)
    globals.KEYS, globals.ARGV = { first, second }, { ... }
    local _ = 1
    return xpcall(script, located)
end

local function become(version, number)
    redis.REDIS_VERSION, redis.REDIS_VERSION_NUM = version, number
end

return environment, run, run_one, run_two, become
