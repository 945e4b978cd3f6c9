internal import Foundation
package import ReelCore
internal import ReelStore

/// The path and the container of an output, decided by file names alone, before any work.
package struct OutputChoice: Hashable, Sendable {
    package var path: String
    package var container: Container

    /// Decides by the path of the output if there is one, else by the source's.
    ///
    /// - Parameters:
    ///   - container: that of the default name; nil for the source's own, or mp4.
    ///   - first: the first source, whose container the output has by default.
    ///   - deed: what was done with the source, as the default name says it: "reversed".
    ///   - folder: where the default name lies; nil for beside the source.
    ///   - suffix: what the default name has after the source's name; nil for a point and the deed.
    ///   - encoders: the ones that the user named, by any name. The default container holds what they make.
    ///
    /// Throws `.outputNotNamed` (`.usage`) if reel does not write the path's extension, and `.losslessNotHeld`
    /// (`.input`) if its container cannot hold a lossless output.
    package init(
        _ path: String?, _ container: Container? = nil, for source: String, like first: String, deed: String,
        in folder: String? = nil, suffix: String? = nil, encoders: [String] = [], lossless: Bool
    ) throws(ReelFailure) {
        if let path {
            try self.init(named: path, lossless: lossless)
            return
        }
        let url = URL(fileURLWithPath: source)
        let name = url.deletingPathExtension().lastPathComponent + (suffix ?? ".\(deed)")
        let place = folder.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? url.deletingLastPathComponent()
        let chosen = container ?? OutputChoice.usual(like: first, encoders: encoders, lossless: lossless)
        try self.init(named: place.appendingPathComponent("\(name).\(chosen.rawValue)").path, lossless: lossless)
    }

    /// The first source's own container if reel writes it and it has timestamps, else mp4; of these, mov and mkv the
    /// first in which players show what the encoders make. Lossless output needs mkv, or the source's mov or nut.
    private static func usual(like first: String, encoders: [String], lossless: Bool) -> Container {
        let like = Container(fileExtension: URL(fileURLWithPath: first).pathExtension)
        let own = like.flatMap { $0.traits.pacing == nil ? $0 : nil }
        let asked = encoders.compactMap(EncoderTraits.asked(for:))
        let sound = encoders.compactMap(AudioEncoderTraits.codec(askedFor:))
        if lossless || asked.contains(where: \.isLossless) {
            return own.flatMap { $0.traits.isLossless ? $0 : nil } ?? .mkv
        }
        let fitting = [own, .mp4, .mov, .mkv].compactMap(\.self).first { container in
            asked.map(\.codec).allSatisfy { container.holds(codec: $0) && container.shows(codec: $0) }
                && sound.allSatisfy(container.holds(codec:))
        }
        return fitting ?? own ?? .mp4
    }

    /// A path whose extension chooses the container.
    ///
    /// Throws `.outputNotNamed` (`.usage`) if reel does not write that extension, and `.losslessNotHeld` (`.input`) if
    /// its container cannot hold a lossless output.
    package init(named path: String, lossless: Bool) throws(ReelFailure) {
        let url = URL(fileURLWithPath: path)
        guard let container = Container(exactExtension: url.pathExtension) else {
            throw ReelFailure(.outputNotNamed(output: path))
        }
        guard !lossless || container.keepsAll else { throw ReelFailure(.losslessNotHeld(container: container)) }
        self.container = container
        self.path = url.path
    }
}

/// The path to which a result is delivered.
package struct Destination: Hashable, Sendable {
    package let path: String
    package let overwrite: Bool

    package init(_ path: String, overwrite: Bool) {
        self.path = path
        self.overwrite = overwrite
    }

    /// Checks, before any work is done, that a result may be written there. Throws `.output` if not.
    ///
    /// - Parameter source: path of the job's source, which is never replaced; nil if it is not known.
    package func check(source: String?) throws(ReelFailure) {
        try Delivery.check(path, source: source, overwrite: overwrite)
    }

    /// Writes a whole file there. Throws `.output` if it cannot be written; nothing half-written remains.
    func write(_ bytes: [UInt8]) throws(ReelFailure) { try Delivery.write(bytes, to: path, overwrite: overwrite) }
}
