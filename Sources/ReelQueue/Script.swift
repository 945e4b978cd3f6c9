/// The board's transitions, each one Lua script in `Scripts/`; see its header for keys, arguments and reply.
enum Script: Int, CaseIterable {
    case begin, upload, restore, publish, attend, leave, claim, beat, complete, fail, release, reap, cancel, pause
    case invalidate, retry, forget, restarted, audit, tally, drain, depart, status, strip, workers, adopt
    case disprove, readmit

    /// What Redis loads: the shared words that the script needs, then the script. Redis makes each word anew for every
    /// call, and all of them would take as long as some scripts do.
    var source: String { Script.sources[rawValue] }

    /// By raw value. Made once, since every board asks for them.
    private static let sources: [String] = {
        let blankLine = Array("\n\n".utf8)
        let paragraphs = PackageResources.board_lua.split(separator: blankLine)
        let words = paragraphs.dropFirst().map(SharedWord.init)
        return allCases.map { script in
            var needed = SharedWord.names(in: script.own[...])
            var source = script.own
            // A word needs none but those before it.
            for word in words.reversed() where needed.contains(word.name) {
                needed.formUnion(word.names)
                source = word.text + blankLine + source
            }
            return String(decoding: paragraphs[0] + blankLine + source, as: UTF8.self)
        }
    }()

    private var own: [UInt8] {
        switch self {
        case .begin: PackageResources.begin_lua
        case .upload: PackageResources.upload_lua
        case .attend: PackageResources.attend_lua
        case .leave: PackageResources.leave_lua
        case .drain: PackageResources.drain_lua
        case .depart: PackageResources.depart_lua
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
        case .invalidate: PackageResources.invalidate_lua
        case .retry: PackageResources.retry_lua
        case .restarted: PackageResources.restarted_lua
        case .audit: PackageResources.audit_lua
        case .tally: PackageResources.tally_lua
        case .strip: PackageResources.strip_lua
        case .status: PackageResources.status_lua
        case .workers: PackageResources.workers_lua
        case .adopt: PackageResources.adopt_lua
        case .disprove: PackageResources.disprove_lua
        case .readmit: PackageResources.readmit_lua
        }
    }
}

/// A paragraph of `board.lua`: "local name = …", or "local function name(…)".
private struct SharedWord {
    let text: ArraySlice<UInt8>
    let name: ArraySlice<UInt8>
    /// All that it uses; what stands in comments counts, which costs a word at the most.
    let names: Set<ArraySlice<UInt8>>

    init(_ text: ArraySlice<UInt8>) {
        self.text = text
        let definition = text.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "local ".utf8) } ?? []
        name = Self.tokens(of: definition).dropFirst().first { !$0.elementsEqual("function".utf8) } ?? []
        names = Self.names(in: text)
    }

    static func names(in text: ArraySlice<UInt8>) -> Set<ArraySlice<UInt8>> { Set(tokens(of: text)) }

    /// As bytes, which are hashed as they are; text that is not plain ASCII is brought to a normal form for that.
    private static func tokens(of text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        text.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                false
            default: true
            }
        }
    }
}
