internal import Foundation
public import ReelCore

/// Where a result goes and in what container, decided by names alone, before any work.
public struct OutputChoice: Hashable, Sendable {
    public var path: String
    public var container: Container

    /// By the name where there is one, else by the source's.
    public init(_ path: String?, for source: String, lossless: Bool) throws(ReelFailure) {
        if let path {
            try self.init(named: path, lossless: lossless)
        } else {
            self.init(besides: source, lossless: lossless)
        }
    }

    /// Without a name: NAME.reversed.EXT beside the source, in the source's own container where reel writes it, else
    /// mp4; lossless needs one that holds any picture and PCM, so .mkv unless the source is mov or nut.
    public init(besides source: String, lossless: Bool) {
        let url = URL(fileURLWithPath: source)
        let own = Container(fileExtension: url.pathExtension)
        container = lossless ? (own.flatMap { $0.traits.isLossless ? $0 : nil } ?? .mkv) : own ?? .mp4
        let name = url.deletingPathExtension().lastPathComponent
        path = url.deletingLastPathComponent().appendingPathComponent("\(name).reversed.\(container.rawValue)").path
    }

    /// With a name: its extension chooses the container. An extension that reel does not write is wrong usage, a
    /// container that cannot hold what lossless means is bad input.
    public init(named path: String, lossless: Bool) throws(ReelFailure) {
        let url = URL(fileURLWithPath: path)
        guard let container = Container(exactExtension: url.pathExtension) else {
            throw ReelFailure(.outputNotNamed(output: path))
        }
        guard !lossless || Container.lossless.contains(container) else {
            throw ReelFailure(.losslessNotHeld(container: container))
        }
        self.container = container
        self.path = url.path
    }
}
