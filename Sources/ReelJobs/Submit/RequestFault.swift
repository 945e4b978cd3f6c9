internal import ReelCore
internal import ReelWords

/// Which option of a request cannot be taken, and why.
package struct RequestFault: Error, Hashable, Sendable {
    package var field: OutputRequest.Field
    package var reason: Reason

    init(_ field: OutputRequest.Field, _ reason: Reason) { (self.field, self.reason) = (field, reason) }

    /// What can be wrong with an option. Values are written as users write them, unless a case says otherwise.
    package enum Reason: Hashable, Sendable {
        case malformed(String)
        case outside(ClosedRange<Int>, or: String?)
        /// FFmpeg has no names with such characters.
        case notAName(String)
        case notAboveZero
        case notLater(than: OutputRequest.Field)
        /// The two exclude each other; with a value, only that value does.
        case excludes(OutputRequest.Field, value: String? = nil)
        /// Another option must be given, with that value of its own if there is one.
        case needs(OutputRequest.Field, value: String? = nil)
        /// A crossfade needs clips that meet.
        case needsRepeats
        /// Only a range that is reversed once can have this value.
        case needsReversal(value: String)
        /// The other option would lose something.
        case losslessExcludes(OutputRequest.Field)
        case saidByEdit(value: String? = nil)
        case needsTimeline
        case stitchesEdit(path: String)
        case tooManyClips(Int)
        /// The edit, a file, has a soundtrack of its own.
        case soundtrackTwice(path: String)
    }

    /// What is wrong, for users who write options in this way.
    package func words(_ names: RequestNames) -> String {
        let name = { (field: OutputRequest.Field) in names.write(field, nil) }
        let own = name(field)
        switch reason {
        case .malformed(let text):
            let shown = text.count > 100 ? text.prefix(100) + "…" : text
            return "\(own) takes \(field.option.form.words); it is \(Legible.line(shown))"
        case .outside(let allowed, let word):
            let range =
                allowed.upperBound == .max
                ? "\(allowed.lowerBound) or more" : "\(allowed.lowerBound) to \(allowed.upperBound)"
            return "\(own) must be " + (word.map { "\($0), or " } ?? "") + range
        case .notAName(let text): return "\(own) \(text) is not a valid FFmpeg name"
        case .notAboveZero: return "\(own) must be above 0"
        case .notLater(let other): return "\(own) must be later than \(name(other))"
        case .excludes(let other, let value):
            return "\(names.write(field, value)) and \(name(other)) exclude each other"
        case .needs(let other, let value): return "\(own) needs \(names.write(other, value))"
        case .needsRepeats:
            let stitch = names.fields.contains(.stitch) ? "\(name(.stitch)), or " : ""
            return "\(own) needs \(stitch)\(name(.times)) 2 or more with \(name(.play)) reverse or forward"
        case .needsReversal(let value):
            return "\(names.write(field, value)) needs \(names.write(.play, Play.reverse.rawValue)), played once"
        case .losslessExcludes(let other):
            return "\(own) keeps pictures and sound as they are; leave out \(name(other))"
        case .saidByEdit(let value):
            return "an edit says itself what its clips are; leave out \(names.write(field, value))"
        case .needsTimeline: return "\(own) needs a timeline, a file that ends in .otio"
        case .stitchesEdit(let path): return "\(own) takes videos; \(path) is an edit"
        case .tooManyClips(let count):
            return "\(own) with \(name(.times)) makes \(count) clips; at most \(Edit.mostClips)"
        case .soundtrackTwice(let path): return "\(path) names a soundtrack; leave out \(own)"
        }
    }
}

/// How one kind of user writes the options of a request.
package struct RequestNames: Sendable {
    package let fields: [OutputRequest.Field]
    /// Writes an option, with a value if there is one.
    package let write: @Sendable (OutputRequest.Field, String?) -> String

    package init(
        fields: [OutputRequest.Field] = OutputRequest.Field.allCases,
        write: @escaping @Sendable (OutputRequest.Field, String?) -> String
    ) { (self.fields, self.write) = (fields, write) }
}
