internal import ArgumentParser
internal import Foundation
internal import FoundationNetworking
internal import ReelCore
internal import ReelQueue

struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server",
        abstract: "Measures the events and figures of a server, and prints a table.",
        discussion: "Puts jobs on the Redis that it is given, which must be of its own.")

    @Option(help: "Listeners to the stream of events.")
    var listeners = 200

    @Option(help: "Changes that the listeners are told of, ten a second.")
    var events = 100

    @Option(help: "Jobs on the board.")
    var jobs = 10_000

    @Option(help: "Passes of each job.")
    var passes = 100

    @Option(help: ArgumentHelp("A Redis of its own.", valueName: "url"))
    var redis: String

    @Option(help: ArgumentHelp("Where the server listens.", valueName: "url"))
    var server: String

    @Option(help: ArgumentHelp("The server's process.", valueName: "pid"))
    var process: Int32

    @Option(
        help: ArgumentHelp("A video that the server may read: the job that changes is made of it.", valueName: "path"))
    var source: String

    func validate() throws {
        guard listeners > 0, events > 1, jobs > 0, passes > 1 else {
            throw ValidationError("listeners, events and passes (two at least) and jobs must be above 0")
        }
    }

    func run() async throws {
        let began = ContinuousClock.now
        while (try? await answer("GET", "api/v1/ready")) == nil {
            guard ContinuousClock.now - began < .seconds(20) else { throw Trouble("the server does not answer") }
            try await Task.sleep(for: .milliseconds(10))
        }
        let idle = try residentBytes()
        let board = RedisBoard(try RedisAddress(redis), name: "bench")
        for number in 0..<jobs {
            try await board.put(SampleJob.published("film-\(number)", passes: passes))
        }
        let scrapes = try await scrape()
        let heard = try await listen()
        print("| figure | median | 99 % | most |")
        print("| --- | ---: | ---: | ---: |")
        print("| a scrape, \(jobs) jobs of \(passes) passes | \(row(scrapes)) |")
        print("| a change, from the request to each of \(listeners) listeners | \(row(heard)) |")
        print("")
        print("Memory of the server: \(idle >> 20) MiB before, \(try residentBytes() >> 20) MiB after.")
    }

    private func row(_ times: Latencies) -> String {
        [0.5, 0.99, 1].map { "\((times.quantile($0) * 10).rounded() / 10) ms" }.joined(separator: " | ")
    }

    private func residentBytes() throws -> Int64 {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard
            let kibibytes = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap({ Int64($0) })
        else { throw Trouble("the server is gone") }
        return kibibytes << 10
    }

    private func answer(_ method: String, _ place: String, _ body: [String: String]? = nil) async throws -> Data {
        guard let url = URL(string: "\(server)/\(place)") else { throw Trouble("no address: \(server)") }
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.httpMethod = method
        if let body {
            request.httpBody = try JSONSerialization.data(withJSONObject: body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (found, response) = try await URLSession.shared.data(for: request)
        guard let status = (response as? HTTPURLResponse)?.statusCode, (200..<300).contains(status) else {
            throw Trouble("\(method) \(place): \(String(decoding: found.prefix(200), as: UTF8.self))")
        }
        return found
    }

    private func scrape() async throws -> Latencies {
        var times = Latencies()
        for _ in 0..<100 {
            let began = ContinuousClock.now
            _ = try await answer("GET", "metrics")
            times.add(ContinuousClock.now - began)
            try await Task.sleep(for: .milliseconds(20))
        }
        return times
    }

    /// Changes a job again and again, and has all listeners tell when they heard of each change.
    private func listen() async throws -> Latencies {
        let made = try JSONSerialization.jsonObject(with: try await answer("POST", "api/v1/jobs", ["source": source]))
        guard let job = (made as? [String: Any])?["id"] as? String else { throw Trouble("the server made no job") }
        return try await withThrowingTaskGroup(of: [ContinuousClock.Instant].self) { group in
            for _ in 0..<listeners {
                let listener = try EventListener(server)
                group.addTask { [events] in try await listener.times(of: events, names: ["paused", "resumed"]) }
            }
            // Until all of them are heard by the server.
            try await Task.sleep(for: .seconds(2))
            var sent: [ContinuousClock.Instant] = []
            for number in 0..<events {
                sent.append(.now)
                _ = try await answer("POST", "api/v1/jobs/\(job)/\(number % 2 == 0 ? "pause" : "resume")")
                try await Task.sleep(for: .milliseconds(100))
            }
            var times = Latencies()
            for try await heard in group { for (sent, heard) in zip(sent, heard) { times.add(heard - sent) } }
            return times
        }
    }
}
