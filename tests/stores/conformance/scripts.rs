//! Scripts: what locks send, and the corners of Lua's and Redis's conversions.

use proptest::prelude::*;
use proptest::sample::select;

pub(crate) fn any() -> BoxedStrategy<Vec<u8>> {
    select(BODIES).prop_map(|body| body.as_bytes().to_vec()).boxed()
}

/// A library with one function, which is one of the scripts.
pub(crate) fn library() -> BoxedStrategy<Vec<u8>> {
    let names =
        (select(&["l", "m"][..]), select(&["f", "g"][..]), select(&["", "flags={'no-writes'}, "][..]));
    (names, select(BODIES))
        .prop_map(|((library, function, flags), body)| {
            format!(
                "#!lua name={library}\nredis.register_function{{{flags}function_name='{function}', \
                 callback=function(KEYS, ARGV) {body} end}}"
            )
            .into_bytes()
        })
        .boxed()
}

const BODIES: &[&str] = &[
    "return 1",
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end",
    "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',100000) then return 1 else return 0 end",
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],100000) end return 0",
    "if (redis.call('exists', KEYS[1]) == 0) then redis.call('hincrby', KEYS[1], ARGV[1], 1); redis.call('pexpire', KEYS[1], 100000); return nil; end; return redis.call('hlen', KEYS[1]);",
    "return {KEYS[1],ARGV[1],#KEYS,#ARGV}",
    "return redis.call('get',KEYS[1])",
    "return redis.pcall('get',KEYS[1])",
    "return redis.call('incr',KEYS[1])",
    "return redis.pcall('incr',KEYS[1])",
    "return redis.call('set',KEYS[1],ARGV[1])",
    "return redis.call('lrange',KEYS[1],0,-1)",
    "return redis.call('rpush',KEYS[1],ARGV[1],ARGV[1])",
    "return redis.call('zadd',KEYS[1],1,ARGV[1])",
    "return redis.call('hset',KEYS[1],'f1',ARGV[1])",
    "return redis.call('nosuch')",
    "return redis.pcall('nosuch')",
    "return redis.call('get')",
    "return redis.call()",
    "return redis.call({})",
    "return redis.call('set',KEYS[1],3.7)",
    "redis.call('set',KEYS[1],0.1); return redis.call('get',KEYS[1])",
    "redis.call('set',KEYS[1],1e15); return redis.call('get',KEYS[1])",
    "redis.call('set',KEYS[1],12345678901234567890); return redis.call('get',KEYS[1])",
    "return 3.99",
    "return -3.99",
    "return 1e19",
    "return 0/0",
    "return true",
    "return false",
    "return nil",
    "return {1,2,nil,4}",
    "return {1,{2,{3,'x'}},false}",
    "return {ok='fine'}",
    "return {err='ERR broken'}",
    "return {err='broken'}",
    "return redis.error_reply('MY error')",
    "return redis.error_reply('-MY error')",
    "return redis.error_reply('one')",
    "return redis.status_reply('GOOD')",
    "return redis.error_reply(1)",
    "error('boom')",
    "error({err='ERR table'})",
    "local x = nil; return x.y",
    "return undefined_variable",
    "a = 1",
    "syntax error here",
    "return redis.sha1hex(ARGV[1])",
    "return tostring(1.5)..tostring(10)..tostring(1e100)",
    "return string.format('%d %s %.3f', 3, 'x', 1.5)",
    "return {string.byte('A'),#'abc',('x'):rep(3)}",
    "return tonumber('0x10')",
    "return tonumber(ARGV[1])",
    "return {pcall(function() error('in') end)}",
    "return redis.pcall('set',KEYS[1])['err']",
    "local r = redis.call('set',KEYS[1],'v'); return r['ok']",
    "return type(redis.call('get','none'))",
    "return type(redis.call('set','s1','x'))",
    "return cjson.encode({1,2,3})",
    "return cjson.encode({a=1})",
    "return cjson.decode('[1,2,{\"a\":null}]')[2]",
    "return cjson.encode(cjson.decode('{\"a\":[1.5,true,false,null,\"x\"]}'))",
    "return cjson.encode({})",
    "return cjson.encode(0.1)",
    "return cjson.encode(ARGV[1])",
    "return {cmsgpack.unpack(cmsgpack.pack(1,'a',{1,2}))}",
    "return cmsgpack.pack({1,-1,200,1.5,'abc'})",
    "return bit.band(0xff,0x0f)",
    "return {bit.bor(1,2),bit.bxor(3,1),bit.lshift(1,4),bit.tohex(255)}",
    "return struct.pack('>I2',258)",
    "return {struct.unpack('>I2','\\1\\2')}",
    "redis.call('set','s1','x'); return redis.call('incr','s1')",
    "redis.replicate_commands(); return 1",
    "redis.set_repl(redis.REPL_ALL); return 1",
    "redis.setresp(3); return redis.call('zscore',KEYS[1],'a')",
    "redis.setresp(3); return {map={a=1}}",
    "redis.setresp(3); return {double=1.5}",
    "return {double=1.5}",
    "redis.setresp(4)",
    "return redis.call('multi')",
    "return redis.call('subscribe','x')",
    "return redis.call('blpop','none',0)",
    "return redis.REDIS_VERSION_NUM > 0",
    "return table.concat({1,2,3},',')",
    "local t={3,1,2}; table.sort(t); return t",
    "return next({})",
    "return math.floor(3.7)+math.max(1,2)",
    "return string.gsub('hello','l','L')",
    "return loadstring('return 5')()",
    "return os.time()",
    "return print",
    "return _G.redis ~= nil",
    "setmetatable(_G, {})",
    "redis.call = 1",
    "return #redis.call('keys','*') >= 0",
    "return redis.log(redis.LOG_NOTICE,'x')",
    "return redis.log('x')",
    "return redis.breakpoint ~= nil",
    "return redis.acl_check_cmd('get','x')",
    "#!lua\nreturn 1",
    "#!lua flags=no-writes\nreturn redis.call('set',KEYS[1],1)",
    "#!lua flags=bad\nreturn 1",
    "#!python\nreturn 1",
    "#!lua name=x\nreturn 1",
];
