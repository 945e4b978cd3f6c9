import Foundation
import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Board and model do the same under random operations, with a crash after any of them.
    ///
    /// `REEL_SEED=n` runs one seed again, `REEL_SEEDS=n` n of them.
    @Suite struct Conforming {
        private static let durable = Result { try RedisServer(sync: .always) }
        private static let steps = 200

        private static var seeds: [UInt64] {
            let variables = ProcessInfo.processInfo.environment
            if let seed = variables["REEL_SEED"].flatMap(UInt64.init) { return [seed] }
            return Array(1...(variables["REEL_SEEDS"].flatMap(UInt64.init) ?? 32))
        }

        @Test func boardAndModelAgree() async throws {
            for seed in Conforming.seeds {
                // Every fourth has a Redis that loses nothing acknowledged, and crashes.
                let restarts = seed % 4 == 0
                let server = try (restarts ? Conforming.durable : BoardFixture.server).get()
                var both = try Conformance(seed: seed, server: server, restarts: restarts)
                for _ in 0..<Conforming.steps where both.differences.isEmpty { try await both.step() }
                var wrong = both.differences
                for _ in 0..<8 where restarts && wrong.isEmpty { wrong = try await both.tear() }
                guard wrong.isEmpty else {
                    Issue.record(
                        """
                        seed \(seed) (REEL_SEED=\(seed)):
                        \(both.history.enumerated().map { "\($0 + 1). \($1)" }.joined(separator: "\n"))
                        \(wrong.joined(separator: "\n"))
                        """)
                    return
                }
            }
        }
    }
}

/// Everything that the board's keys hold, one fact a line as `BoardModel.facts` has it; read in one step.
struct BoardFacts {
    var facts: [String]
    /// Milliseconds, by Redis's clock.
    var now: Int

    init(_ raw: RawRedis) throws {
        var lines = try raw("EVAL", BoardFacts.script, "1", "reel2:{main}:").split(separator: "\n").map(String.init)
        now = Int(lines.removeFirst()) ?? 0
        facts = lines
    }

    private static let script = """
        local p = KEYS[1]
        local clock = redis.call('TIME')
        local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
        local found = { string.format('%.0f', now) }
        local function say(...) found[#found + 1] = table.concat({ ... }, ' ') end
        local function pairs_of(reply)
          local i = -1
          return function() i = i + 2; return reply[i], reply[i + 1] end
        end
        local function scores(name) return pairs_of(redis.call('ZRANGE', p .. name, 0, -1, 'WITHSCORES')) end
        local function fields(name) return pairs_of(redis.call('HGETALL', p .. name)) end
        local function when(score, before, after) return tonumber(score) <= now and before or after end

        for id, score in scores('run') do say('run', id, score) end
        for id, score in scores('queue') do say('queue', id, string.format('%.0f', score)) end
        for id, score in scores('begun') do say('begun', id, score) end
        for id, score in scores('timer') do say('timer', id, when(score, 'due', 'later')) end
        for name, score in scores('lease') do say('lease', name, when(score, 'lapsed', 'valid')) end
        for name, score in scores('workers') do
          local drains = redis.call('HEXISTS', p .. 'control', 'drain:' .. name) == 1 and ' drained' or ''
          say('worker', name, (tonumber(score) < now - \(BoardPolicy.silence) and 'silent' or 'live') .. drains)
        end
        for field in fields('control') do
          local host = field:match('^drain%-host:(.*)$')
          if host then say('host', host, 'drained') end
        end
        for name, score in scores('webhooks') do say('due', name, when(score, 'now', 'later')) end
        say('active', unpack(redis.call('ZRANGE', p .. 'active', 0, -1)))
        say('failed', unpack(redis.call('ZRANGE', p .. 'failed', 0, -1, 'REV')))
        local work = { duration = 0, wait = 0 }
        for name, value in fields('counters') do
          local histogram = name:match('^%l+')
          local times, decoded, encoded = value:match('^(%d+) ?(%d*) ?(%d*)$')
          if work[histogram] then
            work[histogram] = work[histogram] + times
          else
            if times ~= '0' then say('counter', name, times) end
            if name == 'outputs' then say('counter', 'outputs:bytes', decoded) end
            if encoded ~= '' and decoded ~= '0' then say('counter', 'frames:decoded', decoded) end
            if encoded ~= '' and encoded ~= '0' then say('counter', 'frames:encoded', encoded) end
          end
        end
        for histogram, times in pairs(work) do
          if times > 0 then say('counter', histogram, times) end
        end
        local frames, finished = 0, 0
        for place, slot in fields('pace') do
          local f, p = slot:match('^%d+ (%d+) (%d+)$')
          if place:sub(1, 1) == 'm' then frames, finished = frames + f, finished + p end
        end
        say('rates', frames, finished)
        say('totals', redis.call('HGET', p .. 'backlog', '*') or '0 0 0 0 0 0 0 0 0')
        for name, entry in fields('backlog') do
          local state, counts, owner = entry:match('^(%l+) (%d+ %d+ %d+) %d+ (.*)$')
          if state then say('counted', name, state, counts, owner .. '.') end
          if name:find('^@') then say('owner', name:sub(2), entry) end
        end
        for id, score in scores('ready') do say('ready', id, when(score, 'now', 'later')) end
        for _, state in ipairs({ 'done', 'cancelled' }) do
          for id in scores(state) do say('ended', state, id) end
        end
        for id in scores('jobs') do
          local key = 'job:' .. id
          local job = {}
          for name, value in fields(key) do job[name] = value end
          local passes = tonumber(job.passes)
          say('job', id, job.state .. (job.paused and ' paused' or ''), 'copies', job.copied or 0, 'plan', job.plan)
          for name, score in scores(key .. ':waiters') do say('waiter', id, name, when(score, 'lapsed', 'live')) end
          for url, entry in fields(key .. ':webhooks') do say('webhook', id, url, entry:match(' (%d+)$') or '-') end
          if job.removing then
            local by, till = job.removing:match('^(.+) (%d+)$')
            say('removing', id, by, when(till, 'false', 'true'))
          end
          local somewhere = {}
          local planned = job.plan ~= '0'
          for index, entry in fields(key .. ':done') do
            somewhere[index] = true
            if planned then say('done', id, index, entry:match('^%S+')) end
          end
          for _, part in ipairs({ 'live', 'copies' }) do
            for index, entry in fields(key .. ':' .. part) do
              somewhere[index] = true
              local token, decoded, encoded, worker = entry:match('^(%S+) %d+ (%d+) (%d+) (.*)$')
              say(part == 'live' and 'live' or 'copy', id, index, token, decoded, encoded, worker)
            end
          end
          for index, score in scores(key .. ':retry') do
            somewhere[index] = true
            say('retry', id, index, when(score, 'due', 'later'))
          end
          local runs = job.state == 'running' or job.state == 'assembling'
          if job.state == 'probing' and not somewhere['-1'] then say('free', id) end
          for index = 0, planned and passes or -1 do
            if redis.call('GETBIT', p .. key .. ':map', index) == 1 then say('bit', id, index) end
            if not somewhere[index .. ''] then
              local passed = runs and index < passes and index < tonumber(job.cursor)
              say(passed and 'nowhere' or 'waiting', id, index)
            end
          end
          local ended = job.state == 'done' or job.state == 'failed' or job.state == 'cancelled'
          local parts = { 'passes', 'live', 'copies', 'done', 'map', 'retry', 'fails', 'excluded', 'returned', 'waiters',
            'diagnostics', 'webhooks' }
          for _, part in ipairs(parts) do
            local left = redis.call('PTTL', p .. key .. ':' .. part)
            if ended and left == -1 or not ended and left >= 0 then say('expiry', id, part, left) end
          end
        end
        return found
        """
}
