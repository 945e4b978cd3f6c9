internal import Foundation

/// Where and with what was measured.
enum Machine {
    static func describe(_ runner: SuiteRunner) async throws -> String {
        func first(_ command: String) async -> String {
            ((try? await runner.text(["sh", "-c", command])) ?? "").split(separator: "\n").first.map(String.init)
                ?? ""
        }
        let root = "git -C '\(runner.root)'"
        let commit = await first("\(root) rev-parse --short HEAD")
        let changed = await first("\(root) status --porcelain -- Sources Benchmarks") == "" ? "" : " with changes"
        let load =
            ProcessInfo.processInfo.environment["REEL_LOAD"] ?? Descendants.text("/proc/loadavg").split(separator: " ")
            .first.map(String.init) ?? "?"
        // The script's own arguments are not part of the command.
        let given = CommandLine.arguments.dropFirst(2)
        let command = (["Benchmarks/run"] + (given.first == "--page" ? given.dropFirst(2) : given)).joined(
            separator: " ")
        let facts = [
            "Written by `\(command)`"
                + " on " + (await first("date +%F")),
            "commit \(commit)\(changed)",
            "\(ProcessInfo.processInfo.processorCount) cores (\(await first("sed -n 's/^model name.*: //p' /proc/cpuinfo")))",
            "\(ProcessInfo.processInfo.physicalMemory >> 30) GiB of memory",
            await first("uname -sr"),
            await first("ffmpeg -version | cut -d' ' -f1-3"),
            await first("dpkg-query -W -f='libx264 ${Version}\\n' 'libx264-[0-9]*'"),
            await first("melt --version 2>&1"),
            await first("redis-server --version | sed 's/ sha.*//'"),
            "load \(load) before it began",
        ].filter { !$0.isEmpty }
        let rounds =
            runner.rounds == 1
            ? "One round" : "Medians of \(runner.rounds) rounds, and ratios as medians of each round's own"
        return facts.joined(separator: ", ")
            + ".\n\n\(rounds); H.264 by x264 \(Peer.preset), "
            + "CRF \(Peer.crf), AAC, for all. CPU is user and system time of all processes, *all processes* their resident "
            + "memory together as seen ten times a second, *read* and *written* what went through calls, wherever it lay."
    }
}
