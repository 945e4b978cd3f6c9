/// The board's transitions, each one Lua script in `Scripts/`; see its header for keys, arguments and reply.
enum Script: CaseIterable {
    case open, publish, restore, claim, beat, complete, fail, release, reap, cancel, pause, retry, forget, audit, tally
    case status, strip, workers

    /// What Redis loads: the shared words that the script needs, then the script. Redis makes each word anew for every
    /// call, and all of them would take as long as some scripts do.
    var source: String {
        let words = String(decoding: PackageResources.board_lua, as: UTF8.self).split(separator: "\n\n")
        var source = String(decoding: own, as: UTF8.self)
        var needed = Script.names(in: source[...])
        // A word needs none but those before it.
        for word in words.dropFirst().reversed() {
            guard let name = Script.name(of: word), needed.contains(name) else { continue }
            needed.formUnion(Script.names(in: word))
            source = word + "\n\n" + source
        }
        return words[0] + "\n\n" + source
    }

    /// What a paragraph of `board.lua` defines: "local name = …", or "local function name(…)".
    private static func name(of word: Substring) -> Substring? {
        let definition = word.split(separator: "\n").first { $0.hasPrefix("local ") }
        return definition?.split { " (=".contains($0) }.dropFirst().first { $0 != "function" }
    }

    /// The names in a script; those in comments count, which costs a word at the most.
    private static func names(in text: Substring) -> Set<Substring> {
        let ends = Set(" \n\t()[]{},;.:=<>~+-*/%#'\"".utf8)
        return Set(text.utf8.split { ends.contains($0) }.map(Substring.init))
    }

    private var own: [UInt8] {
        switch self {
        case .open: PackageResources.open_lua
        case .publish: PackageResources.publish_lua
        case .claim: PackageResources.claim_lua
        case .beat: PackageResources.beat_lua
        case .complete: PackageResources.complete_lua
        case .fail: PackageResources.fail_lua
        case .release: PackageResources.release_lua
        case .reap: PackageResources.reap_lua
        case .cancel: PackageResources.cancel_lua
        case .forget: PackageResources.forget_lua
        case .restore: PackageResources.restore_lua
        case .pause: PackageResources.pause_lua
        case .retry: PackageResources.retry_lua
        case .audit: PackageResources.audit_lua
        case .tally: PackageResources.tally_lua
        case .strip: PackageResources.strip_lua
        case .status: PackageResources.status_lua
        case .workers: PackageResources.workers_lua
        }
    }
}
