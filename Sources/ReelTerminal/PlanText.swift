internal import ReelCore
package import ReelJobs
internal import ReelWords

/// The output of `plan`: the source's properties, the planned output and its cost.
package enum PlanText {
    package static func lines(_ view: PlanView) -> [String] {
        let found = view.found
        var rows: [(String, String)] = [
            ("job", view.id),
            ("source", view.sources.count == 1 ? view.source : "\(view.source), and \(view.sources.count - 1) more"),
            ("", list([found.format, ByteSize(bytes: found.size).description, seconds(found.seconds), begins(found)])),
        ]
        if let video = found.video {
            rows += [("video", picture(video)), ("", rate(video)), ("", meaning(video))]
            rows += found.groups.map { [("groups", groups($0))] } ?? []
        }
        for (number, track) in found.audio.prefix(6).enumerated() { rows.append(("audio \(number)", sound(track))) }
        if found.audio.count > 6 { rows.append(("", "and \(found.audio.count - 6) audio tracks more")) }
        let others = others(found)
        if !others.isEmpty { rows.append(("also", others)) }
        rows.append(("output", list([view.container, outcome(view)])))
        for track in view.audio.prefix(6) { rows.append(("", outcome(track))) }
        let video = view.passes.filter { $0.kind == "video" }
        let chunks = video.reduce(0) { $0 + $1.runs }
        for (number, clip) in view.clips.enumerated() where view.clips.count > 1 || clip.times > 1 {
            rows.append((number == 0 ? "clips" : "", text(clip, view.sources)))
        }
        let isOfSound = Container(rawValue: view.container)?.traits.isOfSound == true
        let ofVideo =
            video.isEmpty
            ? "none of video, whose packets the assembly copies; "
            : "\(video.count) of video in \(Wording.count(chunks, "chunk")), "
        let known = found.video?.frames ?? 0
        rows += [
            isOfSound
                ? ("length", seconds(view.seconds))
                : (
                    "frames",
                    "\(view.frames) \(view.frames > known ? "made of" : "of") \(known), \(seconds(view.seconds))"
                ),
            ("passes", (isOfSound ? "" : ofVideo) + "\(view.passes.count - video.count) of audio"),
            ("size", view.expectedBytes.map { "about \(ByteSize(bytes: $0))" } ?? ""),
            ("memory", "\(ByteSize(bytes: view.need)) a pass"),
            ("decodes", isOfSound ? "" : Wording.count(view.framesToDecode, "frame")),
            ("quotas", list(view.quotas.map { "\($0.quota) \($0.asked) of \($0.most)" })),
        ]
        return rows.filter { !$0.1.isEmpty }.map { name, text in
            name + String(repeating: " ", count: max(9 - name.count, 1)) + text
        }
    }

    private static func text(_ clip: PlanView.ClipView, _ sources: [String]) -> String {
        guard let source = clip.source else {
            return list(["black", seconds(clip.seconds), "from \(seconds(clip.start)) on", times(clip)])
        }
        let name = sources.count > 1 ? sources[source].split(separator: "/").last.map(String.init) : nil
        let frames = clip.endFrame.flatMap { end in clip.firstFrame.map { end - $0 } }
        let isStill = frames == 1 && abs(clip.seconds - (clip.to - clip.from)) > 0.0005
        let place = "from \(seconds(clip.start)) on"
        guard !isStill else {
            let still = "still for \(seconds(clip.seconds))"
            return list([name, "frame at \(seconds(clip.from))", still, place, times(clip)])
        }
        let isWhole = Int64(nearest: clip.speed * 1000) % 1000 == 0
        let factor = isWhole ? "\(Int64(nearest: clip.speed))" : "\(clip.speed)"
        let way =
            "\(frames.map { Wording.count($0, "frame") + " " } ?? "")\(clip.direction == .forwards ? "forward" : "back")"
        return list([
            name, "\(seconds(clip.from)) to \(seconds(clip.to))", way,
            clip.speed == 1 ? nil : "\(factor) times as fast", place, times(clip),
        ])
    }

    private static func times(_ clip: PlanView.ClipView) -> String? { clip.times > 1 ? "\(clip.times) times" : nil }

    private static func list(_ parts: [String?]) -> String {
        parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private static func seconds(_ value: Double) -> String {
        Wording.seconds(Rational(Int64(nearest: value * 1000), 1000))
    }

    private static func begins(_ found: SourceView) -> String? {
        guard found.video != nil, abs(found.start) >= 0.0005 || abs(found.videoStart - found.start) >= 0.0005
        else { return nil }
        return "clock from \(seconds(found.start)), video from \(seconds(found.videoStart))"
    }

    private static func picture(_ video: SourceView.VideoView) -> String {
        list([
            "stream \(video.stream)", list([video.codec]) + (video.profile.map { " \($0)" } ?? "") + level(video),
            "\(video.width)x\(video.height)", video.pixelFormat, video.sampleAspectRatio.map { "SAR \($0)" },
            video.displayAspectRatio.map { "DAR \($0)" }, video.rotation.map { "turned by \($0)°" },
        ])
    }

    /// H.264 counts levels in tenths (ITU-T H.264 A.3), HEVC in thirtieths (ITU-T H.265 A.4).
    private static func level(_ video: SourceView.VideoView) -> String {
        guard let level = video.level, ["h264", "hevc"].contains(video.codec) else { return "" }
        let tenths = video.codec == "hevc" ? level / 3 : level
        return "@\(tenths / 10).\(tenths % 10)"
    }

    private static func rate(_ video: SourceView.VideoView) -> String {
        let frames = Wording.count(video.frames, "frame")
        let packets = video.packets == video.frames ? nil : "in \(Wording.count(video.packets, "packet"))"
        let hidden = video.hiddenPackets > 0 ? "\(video.hiddenPackets) hidden by an edit list" : nil
        guard video.frames > 1 else { return list([frames, packets, hidden]) }
        guard video.isVariableRate else {
            return list([frames, packets, hidden, video.frameRate.map { "\($0) fps" }, "constant rate"])
        }
        let span = "each \(milliseconds(video.shortestFrame)) to \(milliseconds(video.longestFrame)) ms"
        return list([frames, packets, hidden, "variable rate", span])
    }

    private static func milliseconds(_ seconds: Double) -> String {
        let tenths = Int64(nearest: seconds * 10_000)
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func meaning(_ video: SourceView.VideoView) -> String {
        let colour = video.colour
        let curve: String? =
            switch colour.transfer {
            case "smpte2084": "HDR (PQ)"
            case "arib-std-b67": "HDR (HLG)"
            default: nil
            }
        let fields: String? =
            switch video.fieldOrder {
            case .unknown: nil
            case .progressive: "progressive"
            case .topFirst: "interlaced, top field first"
            case .bottomFirst: "interlaced, bottom field first"
            }
        let names = [colour.primaries, colour.transfer, colour.matrix].map { $0 ?? "-" }
        let alike = Set(names).count == 1 ? names[0] : names.joined(separator: "/")
        return list([
            fields, alike == "-" ? "colour unspecified" : "colour \(alike)", colour.range.map { "range \($0)" },
            colour.chromaLocation.map { "chroma \($0)" }, curve,
        ])
    }

    private static func groups(_ groups: SourceView.GroupsView) -> String {
        let average = Int64(nearest: groups.average * 10)
        let lengths =
            groups.shortest == groups.longest
            ? "\(Wording.count(groups.longest, "frame")) each"
            : "\(groups.shortest) to \(groups.longest) frames, \(average / 10).\(average % 10) on average"
        let open = groups.open == 0 ? "closed" : groups.open == groups.count ? "open" : "\(groups.open) of them open"
        let order =
            groups.reorderedFrames == 0
            ? "no frame reordered"
            : "\(Wording.count(groups.reorderedFrames, "frame")) reordered, \(groups.reorderDepth) deep"
        return list([Wording.count(groups.count, "random access point"), lengths, open, order])
    }

    private static func sound(_ track: SourceView.AudioView) -> String {
        list([
            "stream \(track.stream)", track.codec + (track.profile.map { " \($0)" } ?? ""), "\(track.sampleRate) Hz",
            track.channelLayout, track.bitsPerSample.map { "\($0) bits" }, "\((track.bitrate + 500) / 1000) kb/s",
            track.language, track.title, "from \(seconds(track.start)) to \(seconds(track.end))",
        ])
    }

    private static func others(_ found: SourceView) -> String {
        let texts = found.texts.map { text in
            "subtitles \(text.codec)" + (text.language.map { " (\($0))" } ?? "")
                + ", \(Wording.count(text.cues, "cue"))"
        }
        let chapters = found.chapters == 0 ? [] : [Wording.count(found.chapters, "chapter")]
        return (texts + chapters + found.attachments).joined(separator: "; ")
    }

    private static func outcome(_ view: PlanView) -> String {
        guard let video = view.found.video, let made = view.pixelFormat, let width = view.width,
            let height = view.height
        else { return "" }
        let kept = made == video.pixelFormat ? "as in the source" : "from \(video.pixelFormat)"
        guard Container(rawValue: view.container)?.traits.loops == nil else {
            return "\(width)x\(height), drawn from \(view.videoEncoder) \(made) (\(kept))"
        }
        return list([
            "\(view.videoEncoder) \(width)x\(height) \(made) (\(kept))",
            view.bitrate.map(rate), view.encoderOptions.isEmpty ? nil : view.encoderOptions,
            view.coarsestCrf.map { "down to crf \(Int($0)) where it would have many more bits than the source" },
        ])
    }

    private static func rate(_ rate: VideoRate) -> String {
        switch rate {
        case .constant(let bits): "\(bits / 1000) kb/s"
        case .source: "as many bits as the source"
        case .share(let share): "\(Int((100 * share.approximate).rounded())) % of the source's bits"
        }
    }

    private static func outcome(_ track: PlanView.OutputAudioView) -> String {
        let made =
            switch track.handling {
            case .copied: "copied packet by packet"
            case .forwards: "forwards"
            case .reversed: "reversed"
            case .edited: "as the clips have it"
            case .soundtrack: "the soundtrack"
            }
        guard track.handling != .copied else { return "audio \(track.track): \(made)" }
        return "audio \(track.track): "
            + list([
                made, track.encoder, "\(track.sampleRate) Hz", track.channelLayout,
                track.bitrate.map { "\($0 / 1000) kb/s" },
            ])
    }
}
