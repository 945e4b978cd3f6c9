internal import Foundation

extension BoardBench {
    func heading(_ title: String, _ columns: String..., note: String?) {
        print("\n### \(title)\n")
        if let note { print(note + "\n") }
        table(columns)
    }

    func fleetHeading(_ title: String, _ columns: String..., note: String) {
        print("\n### \(title)\n\n\(note)\n")
        table(columns + ["claim", "beat", "complete", "a function", "clients", "Redis", "others"])
    }

    private func table(_ columns: [String]) {
        print("| " + columns.joined(separator: " | ") + " |")
        print("| --- |" + columns.dropFirst().map { _ in " ---: |" }.joined())
    }

    func row(_ cells: String...) { print("| " + cells.joined(separator: " | ") + " |") }

    /// Latencies, and how busy Redis and this program were.
    func fleetRow(_ name: String, _ log: CallLog, _ before: RedisProbe.Reading, _ after: RedisProbe.Reading) {
        let took = (after.time - before.time) / .seconds(1)
        func share(_ cpu: Double) -> String { String(format: "%.0f %%", 100 * cpu / took) }
        let scripts = max(1, after.scripts - before.scripts)
        let (own, redis) = (after.ownCPU - before.ownCPU, after.cpu - before.cpu)
        row(
            name, String(format: "%.0f", Double(log.calls) / took), spread(log.claim), spread(log.beat),
            spread(log.complete),
            String(format: "%.0f µs", (after.scriptTime - before.scriptTime) * 1e6 / Double(scripts)),
            share(own), share(redis),
            share(max(0, after.allCPU - before.allCPU - own - redis)))
    }

    /// The median, and what one call in a hundred exceeds.
    func spread(_ latencies: Latencies, worst: Double = 0.99) -> String {
        guard !latencies.samples.isEmpty else { return "" }
        return "\(milliseconds(latencies.quantile(0.5))) (\(milliseconds(latencies.quantile(worst))))"
    }

    func milliseconds(_ value: Double) -> String { String(format: value < 10 ? "%.2f ms" : "%.0f ms", value) }
}
