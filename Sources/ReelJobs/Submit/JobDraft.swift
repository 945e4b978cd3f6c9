internal import Foundation
package import ReelCore
package import ReelStore
internal import ReelWords

/// One output that a request makes: its sources, what is done with them, and how it is named. It becomes a `JobRecord`.
package struct JobDraft: Sendable {
    package let request: OutputRequest
    /// Paths of its sources; at least one.
    package let sources: [String]
    /// Nil reverses a range of the only source.
    package let edit: Edit?
    /// The path that names the output by default: the source, the edit's file, or the first of the stitched files.
    package let named: String
    /// The same for people: without the query of a URL.
    package var shown: String { WebAddress.shown(named) }
    let deed: String
    package let diagnostics: [Diagnostic]

    package func spec(in container: Container) -> JobSpec { request.spec(edit, in: container) }

    /// The path and the container of its output, as `OutputChoice.init` decides them and with its errors.
    package func output(
        _ path: String? = nil, container: Container? = nil, in folder: String? = nil, suffix: String? = nil
    ) throws(ReelFailure) -> OutputChoice {
        let choice = try OutputChoice(
            path, container ?? request.usualContainer, for: named, like: sources[0], deed: deed, in: folder,
            suffix: suffix,
            encoders: request.encoders, lossless: request.lossless)
        guard request.purpose == nil || choice.container == Purpose.container else {
            throw ReelFailure(.optionNotOfContainer(option: .purpose, container: choice.container))
        }
        return choice
    }

    /// Throws `.output` if the output would replace a file that it is made of, or cannot be written there.
    package func check(_ destination: Destination) async throws(ReelFailure) {
        try await destination.check(sources: [named] + sources)
    }
}

extension OutputRequest {
    /// A draft for each output that a command's arguments ask for: videos, those in folders, files of edits, timelines,
    /// or one of all if they are stitched. Throws a `RequestFault` for options that do not fit them, and as `refused`.
    ///
    /// - Parameter refused: hears of each argument that cannot be a draft, such as a flawed edit.
    package func drafts(of arguments: [String], refused: (ReelFailure) throws -> Void) throws -> [JobDraft] {
        let files = try arguments.flatMap { argument in
            do throws(ReelFailure) {
                return try VideoFolder.files(in: argument)
            } catch {
                // One output of several cannot do without one of them.
                if stitch { throw error }
                try refused(error)
                return []
            }
        }
        guard !lenient || files.contains(where: SubmittedEdit.isTimeline) else {
            throw RequestFault(.lenient, .needsTimeline)
        }
        if stitch { return [try stitched(files)] }
        return try files.compactMap { file in
            guard SubmittedEdit.isFile(file) else { return try draft(video: file) }
            try refuseClipOptions()
            let edit: SubmittedEdit
            do throws(ReelFailure) {
                edit = try SubmittedEdit(file: file, isLenient: lenient)
            } catch {
                try refused(error)
                return nil
            }
            return try draft(edit: edit, named: file)
        }
    }

    /// The draft of one video at a path, whatever its name.
    package func draft(video path: String) throws(RequestFault) -> JobDraft {
        guard isEdit else {
            return JobDraft(request: self, sources: [path], edit: nil, named: path, deed: deed, diagnostics: [])
        }
        return try draft(playing([path], titled: false, trim: .none), named: path, deed: deed)
    }

    /// The draft of an edit. Throws if an option says what the edit says.
    package func draft(edit: SubmittedEdit, named: String) throws(RequestFault) -> JobDraft {
        try refuseClipOptions()
        return try draft(edit, named: named, deed: "cut")
    }

    private func stitched(_ files: [String]) throws(RequestFault) -> JobDraft {
        if let edit = files.first(where: SubmittedEdit.isFile) {
            throw RequestFault(.stitch, .stitchesEdit(path: edit))
        }
        let edit = playing(files, titled: true, trim: .shared)
        guard edit.edit.repeats <= Edit.mostClips else { throw RequestFault(.stitch, .tooManyClips(edit.edit.repeats)) }
        return try draft(edit, named: files[0], deed: deed)
    }

    private func draft(_ edit: SubmittedEdit, named: String, deed: String) throws(RequestFault) -> JobDraft {
        var edit = edit
        if let soundtrack {
            guard edit.edit.soundtrack == nil else { throw RequestFault(.soundtrack, .soundtrackTwice(path: named)) }
            edit.add(soundtrack: soundtrack, from: soundtrackFrom?.seconds ?? Rational(0))
        }
        return JobDraft(
            request: self, sources: edit.sources, edit: edit.edit, named: named, deed: deed,
            diagnostics: edit.diagnostics)
    }

    /// An edit of videos; `usual` is how they are trimmed by default.
    private func playing(_ files: [String], titled: Bool, trim usual: Trim) -> SubmittedEdit {
        SubmittedEdit(
            playing: files, as: clips, titled: titled, turn: turn ?? .once, crossfade: crossfade?.seconds,
            trim: trim ?? usual)
    }

    /// What is shown of each video.
    private var clips: [EditClip] {
        let speed = speed?.ratio ?? Rational(1)
        guard let rewind else {
            let play = play ?? (stitch ? .forward : .reverse)
            return [EditClip(from: from, to: to, duration: duration, play: play, times: times, speed: speed)]
        }
        // Forth and back ends beside the frame at which it began, and that frame comes next.
        var clips: [EditClip] = []
        var start = from
        for moment in rewind.ranges {
            if start.map({ $0 != moment.start }) ?? !moment.start.isZero {
                clips.append(EditClip(from: start, to: moment.start, play: .forward, speed: speed))
            }
            // At its turns, a moment of one frame would be shown twice.
            clips.append(
                EditClip(from: moment.start, to: moment.end, play: .pingPong, speed: speed, leastFrames: 2))
            start = moment.start
        }
        clips.append(EditClip(from: start, to: to, duration: nil, play: .forward, speed: speed))
        return clips
    }

    private var deed: String {
        if stitch { return "stitched" }
        if rewind != nil { return "rewound" }
        return switch play ?? .reverse {
        case .reverse: "reversed"
        case .pingPong: "ping-pong"
        case .forward: "cut"
        }
    }
}

/// A folder that is named in place of the videos in it.
package enum VideoFolder {
    private static let extensions: Set<String> = [
        "3g2", "3gp", "asf", "avi", "divx", "dv", "f4v", "flv", "gif", "m2t", "m2ts", "m4v", "mkv", "mov", "mp4",
        "mpeg", "mpg", "mts", "mxf", "nut", "ogm", "ogv", "qt", "rm", "rmvb", "ts", "vob", "webm", "wmv", "y4m",
    ]

    /// Whether a file of this name may be a video, a picture that moves, or sound.
    package static func isMedia(_ name: String) -> Bool {
        let suffix = URL(fileURLWithPath: name).pathExtension.lowercased()
        return extensions.contains(suffix) || Container(rawValue: suffix) != nil
    }

    /// The paths of the videos in a folder, by name; any other path as it is. Throws `.folderWithoutVideos`.
    static func files(in path: String) throws(ReelFailure) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [path]
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let videos = names.filter { name in
            !name.hasPrefix(".") && extensions.contains(URL(fileURLWithPath: name).pathExtension.lowercased())
        }
        guard !videos.isEmpty else { throw ReelFailure(.folderWithoutVideos(path: URL(fileURLWithPath: path).path)) }
        return videos.sorted().map { URL(fileURLWithPath: path).appendingPathComponent($0).path }
    }
}

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
        let url = URL(fileURLWithPath: OutputChoice.fileName(of: source))
        let name = url.deletingPathExtension().lastPathComponent + (suffix ?? ".\(deed)")
        let chosen = container ?? OutputChoice.usual(like: first, encoders: encoders, lossless: lossless)
        let file = "\(name).\(chosen.rawValue)"
        if let folder, WebAddress.isWritten(folder) {
            try self.init(named: folder + (folder.hasSuffix("/") ? "" : "/") + file, lossless: lossless)
            return
        }
        let place = folder.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? url.deletingLastPathComponent()
        try self.init(named: place.appendingPathComponent(file).path, lossless: lossless)
    }

    /// A source's path, or the name that a copy of a URL's bytes would have in this folder.
    static func fileName(of source: String) -> String {
        guard WebAddress.isWritten(source) else { return source }
        let name = WebAddress.fileName(source)
        return (WebAddress.isObject(source) ? name : name.removingPercentEncoding ?? name).replacing("/", with: "_")
            .replacing("\0", with: "_")
    }

    /// The first source's own container if reel writes it and it has timestamps, for other files of sound one that suits
    /// them, else mp4; of these, mov and mkv the first in which players show what the encoders make, or for a file of sound
    /// of all of sound. Lossless output needs mkv, or the source's mov or nut; of sound, wav.
    private static func usual(like first: String, encoders: [String], lossless: Bool) -> Container {
        let ending = URL(fileURLWithPath: WebAddress.fileName(first)).pathExtension
        let like = Container(fileExtension: ending) ?? Container(forSound: ending)
        let own = like.flatMap { $0.traits.pacing == nil ? $0 : nil }
        let asked = encoders.compactMap(EncoderTraits.asked(for:))
        let sound = encoders.compactMap(AudioEncoderTraits.codec(askedFor:))
        if lossless || asked.contains(where: \.isLossless) {
            return own.flatMap { $0.traits.isLossless ? $0 : $0.traits.isOfSound ? .wav : nil } ?? .mkv
        }
        let others = own?.traits.isOfSound == true ? Container.ofSound : [.mp4, .mov, .mkv]
        let fitting = ([own].compactMap(\.self) + others).first { container in
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
        let url = URL(fileURLWithPath: WebAddress.fileName(path))
        guard let container = Container(exactExtension: url.pathExtension) else {
            throw ReelFailure(.outputNotNamed(output: path))
        }
        guard !lossless || container.keepsAll else { throw ReelFailure(.losslessNotHeld(container: container)) }
        self.container = container
        self.path = WebAddress.isWritten(path) ? path : url.path
    }
}

/// The place to which a result is delivered.
package struct Destination: Sendable {
    /// Of a file, or the address of an object in a bucket.
    package let path: String
    package let overwrite: Bool
    private let remote: (any RemoteOutputs)?

    /// - Parameter remote: how results get to addresses; nil if they do not.
    package init(_ path: String, overwrite: Bool, remote: (any RemoteOutputs)? = nil) {
        self.path = path
        self.overwrite = overwrite
        self.remote = remote
    }

    /// The folder of the file. For an object it is the current folder, as for the default names of sources in buckets.
    package var folder: String {
        isRemote
            ? FileManager.default.currentDirectoryPath
            : URL(fileURLWithPath: path).deletingLastPathComponent().path
    }

    private var isRemote: Bool { WebAddress.isWritten(path) }

    /// Checks, before any work is done, that a result may be written there. Throws `.output` if not.
    ///
    /// - Parameter sources: of the job, if they are known. They are never replaced.
    package func check(sources: [String] = []) async throws(ReelFailure) {
        guard isRemote else {
            if sources.isEmpty { try Delivery.check(path, source: nil, overwrite: overwrite) }
            for source in sources { try Delivery.check(path, source: source, overwrite: overwrite) }
            return
        }
        guard !sources.contains(path) else { throw ReelFailure(.outputIsSource(path: path)) }
        try await remoteOutputs.check(path, overwrite: overwrite)
    }

    /// Whether something is there. Throws what `RemoteOutputs.check` throws.
    package func exists() async throws(ReelFailure) -> Bool {
        guard isRemote else { return FileManager.default.fileExists(atPath: path) }
        do throws(ReelFailure) {
            try await remoteOutputs.check(path, overwrite: false)
            return false
        } catch {
            if case .outputExists = error.reason { return true }
            throw error
        }
    }

    /// Moves a result there out of a workspace that is not needed any more. Throws as `Delivery.move` does, and what
    /// `RemoteOutputs.deliver` throws.
    func move(_ result: StoredResult, outOf workspace: Workspace) async throws(ReelFailure) {
        guard isRemote else {
            return try Delivery.move(result, outOf: workspace, to: path, overwrite: overwrite)
        }
        try await remoteOutputs.deliver(result, to: path, overwrite: overwrite)
    }

    /// Copies a result there, which stays in its store. Throws as `Delivery.copy` does, and what `RemoteOutputs.deliver`
    /// throws.
    func copy(_ result: StoredResult) async throws(ReelFailure) {
        guard isRemote else { return try Delivery.copy(result, to: path, overwrite: overwrite) }
        try await remoteOutputs.deliver(result, to: path, overwrite: overwrite)
    }

    private var remoteOutputs: any RemoteOutputs {
        get throws(ReelFailure) {
            guard let remote else {
                throw ReelFailure(.outputNotTaken(address: WebAddress.shown(path), flaw: "results go to files here"))
            }
            return remote
        }
    }

    /// Writes a whole file there. Throws `.output` if it cannot be written; nothing half-written remains.
    func write(_ bytes: [UInt8]) throws(ReelFailure) { try Delivery.write(bytes, to: path, overwrite: overwrite) }
}
