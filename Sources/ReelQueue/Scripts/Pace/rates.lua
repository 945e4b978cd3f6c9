-- rates: the frames and passes of all jobs that got done in each minute of the last hour. Writes nothing.
--
-- Reply    {slots of `pace` as a flat list, those of five seconds among them, now (ms)}
look('rates', function() return { redis.call('HGETALL', key('pace')), now } end)
