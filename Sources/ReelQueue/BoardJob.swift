package import ReelCore

/// A job as the board holds it: what claiming and fairness need to know. The rest is in the store. It is stored as JSON,
/// so its properties keep their names.
package struct BoardJob: Codable, Hashable, Sendable {
    package var id: JobID
    /// The source's path or name, to be shown.
    package var source: String
    /// The number of video frames that the output shows; 0 while there is no plan.
    package var frames: Int
    /// The number of passes without the assembly, which is also the assembly's index.
    package var passCount: Int
    /// The number of passes of sound, which come first; the others are of video. Nil without a plan, and for a plan
    /// that release 0.1.0 published.
    package var audioPasses: Int?
    /// Bytes of memory that a slot must have free.
    package var need: Int64
    /// The builds of the encoders that the job uses. A worker must have them all.
    package var encoders: [String]
    /// The version of the engine's protocol. A worker must have the same.
    package var protocolVersion: Int
    /// The job's share of the workers, above 0; 1 is normal.
    package var weight: Double
    /// The time to encode a frame, if decoding one takes 1.
    package var encodingEffort: Double
    package var diagnostics: [Diagnostic]
    /// The number of the plan that the passes belong to; 0 while there is none.
    package var plan: Int
    /// How often the job had begun again after an end when it was begun or retried, as its record has it; nil for never.
    /// A plan does not change it.
    package var run: Int?
    /// SHA-256 of that plan, in hexadecimal, by which a worker knows the plan of its store. Nil like `audioPasses`.
    package var planHash: String?

    /// The index of planning, which makes a job's index and plan before there are passes.
    package static let planningIndex = -1

    static let passCounts = 0...BoardPolicy.mostPasses

    package init(
        id: JobID, source: String, frames: Int = 0, passCount: Int = 0, audioPasses: Int? = nil, need: Int64,
        encoders: [String] = [], protocolVersion: Int, weight: Double = 1, encodingEffort: Double = 1,
        diagnostics: [Diagnostic] = [], plan: Int = 0, planHash: String? = nil, run: Int? = nil
    ) {
        self.id = id
        self.source = source
        self.frames = frames
        self.passCount = passCount
        self.audioPasses = audioPasses
        self.need = need
        self.encoders = encoders
        self.protocolVersion = protocolVersion
        self.weight = weight
        self.encodingEffort = encodingEffort
        self.diagnostics = diagnostics
        self.plan = plan
        self.planHash = planHash
        self.run = run
    }
}

extension BoardJob {
    /// The work at an index; nil for a pass of a plan that release 0.1.0 published.
    package func work(at index: Int) -> Work? {
        if index < 0 { return .planning }
        return index < passCount ? audioPasses.map { index < $0 ? .audio : .video } : .assembly
    }

    /// The virtual time that one claim costs: the frames of the job's average pass, divided by its weight.
    var share: Double { Double(max(frames, 1)) / Double(max(passCount, 1)) / weight }

    /// The job as it is while probing, without what a plan decides.
    var withoutPlan: BoardJob {
        var bare = self
        (bare.frames, bare.passCount, bare.encoders, bare.plan, bare.diagnostics) = (0, 0, [], 0, [])
        (bare.audioPasses, bare.planHash, bare.encodingEffort) = (nil, nil, 1)
        return bare
    }

    /// Throws `.jobContradictory` for a job without an id or with a weight that is not above 0.
    func check() throws(ReelFailure) {
        try BoardJob.check(weight, of: id)
        guard !id.text.isEmpty else { throw ReelFailure(.jobContradictory(job: id, fault: .id)) }
    }

    static func check(_ weight: Double, of job: JobID) throws(ReelFailure) {
        guard weight.isFinite, weight > 0 else { throw ReelFailure(.jobContradictory(job: job, fault: .weight)) }
    }
}

/// The name of one of the boards that a Redis holds. A user of Redis who may use the keys of one namespace alone cannot
/// read or change the jobs of another.
package struct Namespace: Hashable, Sendable {
    /// The board that programs use if none is named.
    package static let main = Namespace(checked: "main")

    package let name: String

    private init(checked name: String) { self.name = name }

    /// Throws `.namespaceInvalid` unless the name has 1 to 64 letters, digits, dots, hyphens and underscores of ASCII:
    /// it becomes part of keys and of patterns in the lists of users.
    package init(_ name: String) throws(ReelFailure) {
        let isWord = name.utf8.allSatisfy { byte in
            switch UInt8(byte) {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isWord, (1...64).contains(name.utf8.count) else {
            throw ReelFailure(.namespaceInvalid(name: String(name.prefix(64))))
        }
        self.init(checked: name)
    }
}

/// Keys of a whole board, whose names are fixed but for the namespace. `docs/board.md` says what each holds. New ones
/// go to the end, since functions take keys by their place and serve earlier callers; so `journal`, which is not used
/// any more, keeps its place.
enum BoardKey: String, CaseIterable {
    case jobs, active, failed, store, schema, lease, run, virtual, broken, timer, tail, wake, workers, control, auditing
    case events, pace, done, cancelled, counters, journal, webhooks, queue, begun, turns, backlog, ready, later
}

struct BoardKeys: Sendable {
    /// The beginning of every key. The braces put all keys in one hash slot.
    let prefix: String
    /// The key of the journal, outside the keys that workers may use.
    let journal: String
    /// The names of the whole board's keys, in the order in which calls declare them.
    let declared: [String]

    init(_ namespace: Namespace) {
        let prefix = "reel2:{\(namespace.name)}:"
        self.prefix = prefix
        journal = "reel2-journal:{\(namespace.name)}"
        declared = BoardKey.allCases.map { prefix + $0.rawValue }
    }

    subscript(key: BoardKey) -> String { prefix + key.rawValue }

    /// The key of a job's own hash, or of one of its parts.
    func job(_ id: JobID, _ part: String? = nil) -> String { "\(prefix)job:\(id)" + (part.map { ":\($0)" } ?? "") }
}
