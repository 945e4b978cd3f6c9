/// How the bytes of an output of limited size are shared: sound and container take what they need, and each chunk of
/// pictures gets a part of the rest in proportion to the bits that the source has for its frames.
struct SizeBudget {
    private let plan: Plan
    private let indexes: [SourceIndex]
    /// Bytes of everything but pictures.
    private let fixed: Double

    init(_ plan: Plan, _ indexes: [SourceIndex]) {
        var plan = plan
        let length = SizeBudget.length(of: plan, indexes)
        for place in plan.audio.indices { plan.audio[place].mostBytes = plan.audio[place].bytes(lasting: length) }
        (self.plan, self.indexes) = (plan, indexes)
        let sound = plan.audio.map { SoundSize($0, lasting: length, in: indexes) }
        fixed = SizeBudget.fixed(plan, indexes, lasting: length, sound)
    }

    /// The plan with the rate at which its output has nearly `most` bytes, and no more.
    ///
    /// Throws `.sizeUnreachable` if even the coarsest pictures take more.
    ///
    /// - Parameter likeSource: whether pictures also have no more bits than the source's.
    func sized(most: Int64, likeSource: Bool) throws(ReelFailure) -> Plan {
        var sized = plan
        sized.mostBytes = most
        // The assembly makes the pictures of a loop as small as it takes.
        guard plan.loop == nil, var encoding = plan.video.encoding else { return sized }
        let places = Dictionary(grouping: plan.makers, by: \.self).mapValues { Double($0.count) }
        var (bits, least) = (0.0, fixed)
        for case .video(let pass) in plan.passes {
            for clip in pass.clips {
                let track = indexes[plan.clips[clip].source].video
                for frames in plan.chunks(of: pass, in: clip) {
                    let times = places[clip] ?? 1
                    let own = track.bitsFromKey(of: frames)
                    bits += times * own
                    let shown = plan.clips[clip].places(showing: frames).count
                    least += times * SizeBudget.least(shown, plan.video.format, like: own / 8)
                }
            }
        }
        let room = Double(most) - fixed
        guard Double(most) >= least, room > 0, bits >= 1 else {
            throw ReelFailure(.sizeUnreachable(most: most, least: Int64(min(max(least, fixed), 0x1p60).rounded(.up))))
        }
        let share = Rational(Int64(min(8 * room, 0x1p60)), Int64(min(bits, 0x1p60).rounded(.up)))
        encoding.bitrate = .share(likeSource ? min(share, Rational(1)) : share)
        sized.video = .encode(encoding)
        return sized
    }

    /// Bytes of a chunk with this many frames, as coarse as encoders make them. Pictures that hardly change take less than
    /// others: they have few bytes in the source.
    private static func least(_ frames: Int, _ format: OutputFormat, like source: Double) -> Double {
        let pixels = Double(format.width * format.height)
        return min(0.003 * pixels + Double(frames) * (20 + 0.0002 * pixels), 0.1 * source)
    }

    // MARK: Sound and container

    /// The length of the output in seconds.
    private static func length(of plan: Plan, _ indexes: [SourceIndex]) -> Double {
        plan.video.format.timeBase.seconds(plan.end(in: indexes)).approximate
    }

    /// About how many bytes there are of everything but pictures, and without the packets of sound if they are counted
    /// elsewhere.
    static func beside(_ plan: Plan, _ indexes: [SourceIndex], withSound: Bool) -> Double {
        let length = length(of: plan, indexes)
        let sound = plan.audio.map { SoundSize(about: $0, lasting: length, in: indexes) }
        return fixed(plan, indexes, lasting: length, sound) - (withSound ? 0 : sound.reduce(0) { $0 + $1.bytes })
    }

    private static func fixed(
        _ plan: Plan, _ indexes: [SourceIndex], lasting length: Double, _ sound: [SoundSize]
    ) -> Double {
        let main = indexes[plan.mainSource]
        let attached = main.attachments.reduce(0) { $0 + $1.bytes + 200 }
        let tracks = indexes.flatMap(\.subtitles)
        let texts = tracks.flatMap(\.cues).reduce(700 * tracks.count) { $0 + $1.text.payload.count + 60 }
        let marks = 120 * (plan.chapters.count + indexes.reduce(0) { $0 + $1.chapters.count })
        let beside = Double(Int(attached) + texts + marks)
        guard !plan.container.isQuickTime else {
            let tables = SampleTables.bytes(
                frames: plan.frameCount, lasting: length, soundPackets: sound.map { Int($0.packets.rounded(.up)) },
                tags: main.metadata)
            // Codecs' headers, and a byte for each unit of a picture, whose length replaces a shorter mark.
            let headers = Double(800 * (1 + sound.count) + 2 * plan.frameCount)
            return beside + Double(tables) + headers + sound.reduce(0) { $0 + $1.bytes }
        }
        // Matroska: a block takes 6 to 8 bytes beside its packet, and pictures also clusters and cues.
        let tags = main.metadata.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 40 }
        let blocks = sound.reduce(12 * Double(plan.frameCount)) { $0 + 8 * $1.packets }
        return beside + Double(2500 + 700 * sound.count + tags) + blocks + sound.reduce(0) { $0 + $1.bytes }
    }
}

/// How large a track of sound becomes.
private struct SoundSize {
    let bytes: Double
    let packets: Double

    /// As a rule: lossless encoders make of lossless sound what its source has, and of other sound 0.6 of PCM.
    init(about target: AudioTarget, lasting seconds: Double, in indexes: [SourceIndex]) {
        let most = SoundSize(target, lasting: seconds, in: indexes)
        packets = most.packets
        let track = indexes[target.source].audio[target.track]
        let own = track.timeBase.seconds(track.span.duration).approximate
        let codec = AudioEncoderTraits.named(target.encoder, codec: target.encoder).codec
        if target.bitrate == nil, !target.isPassthrough, !AudioEncoderTraits.isPCM(codec) {
            let isLossless = AudioEncoderTraits.making(track.codec).isLossless && !AudioEncoderTraits.isPCM(track.codec)
            bytes = isLossless && own > 0 ? Double(track.bytes) / own * seconds : 0.6 * most.bytes
        } else {
            // Sound that is silent for the most part takes less than encoders are asked for.
            let own = own > 0 ? Double(track.bytes) / own * seconds : .infinity
            bytes = target.bitrate.map { min(Double($0) / 8 * seconds, 1.5 * own) } ?? most.bytes
        }
    }

    /// At most.
    init(_ target: AudioTarget, lasting seconds: Double, in indexes: [SourceIndex]) {
        let track = indexes[target.source].audio[target.track]
        packets = seconds * Double(target.sampleRate) / Double(target.frame) + 3
        // The loudest moments may have more than the rest, and an encoder takes more until its rate control has settled.
        let weighed = 1.01 * seconds + 0.45 * min(seconds, 2.5)
        if target.isPassthrough {
            let own = track.timeBase.seconds(track.span.duration).approximate
            bytes = min(own > 0 ? Double(track.bytes) / own * weighed : 0, Double(track.bytes))
        } else if let most = target.bytes(lasting: seconds) {
            bytes = Double(most)
        } else if let bits = target.bitrate {
            bytes = Double(bits) / 8 * weighed
        } else {
            // Lossless encoders make no more than PCM has, and a little around it.
            bytes = 1.01 * seconds * Double(target.sampleRate * track.channels) * Double(track.bitsPerSample ?? 16) / 8
        }
    }
}

extension AudioTarget {
    /// Samples per channel of a packet, about.
    fileprivate var frame: Int { max(joints?.frame ?? 1024, 1) }

    /// The bytes of that many seconds at the target's rate, with two packets more and the hundredth by which encoders
    /// miss their rate; nil without a rate, or if the encoder's header depends on it, as that of Vorbis does: an encode at
    /// another rate would not be the plan's. `RateSearch` has the others keep to it.
    fileprivate func bytes(lasting seconds: Double) -> Int64? {
        guard let bitrate, joints != nil else { return nil }
        let most = Double(bitrate) / 8 * (1.01 * seconds + 2 * Double(frame) / Double(sampleRate))
        return Int64(min(most, 0x1p60).rounded(.up))
    }
}

/// The tables of samples of MP4 and QuickTime files.
package enum SampleTables {
    /// The most bytes that they take beside codecs' headers (ISO 14496-12 8.6, 8.7).
    package static func bytes(
        frames: Int, lasting seconds: Double, soundPackets: [Int], tags: [MetadataEntry]
    ) -> Int64 {
        let turns = Int64(min(seconds * 2, Double(soundPackets.reduce(frames, +)))) + 16
        // A video packet takes: size, decode delta, composition offset, sync mark. A turn of the interleaving takes:
        // chunk offset and its samples.
        let video = Int64(frames) * (4 + 8 + 8 + 4) + turns * 24
        let audio = soundPackets.reduce(0) { $0 + Int64($1) * (4 + 8) + turns * 24 }
        let texts = tags.reduce(0) { $0 + Int64($1.name.utf8.count + $1.value.utf8.count) + 64 }
        return video + audio + texts + 3072 + 1024 * Int64(1 + soundPackets.count)
    }
}

extension Container {
    /// Whether it is known how many bytes it takes beside those of its packets.
    package var limitsSize: Bool {
        isQuickTime && !traits.isOfSound || self == .mkv || self == .webm || traits.loops != nil
    }
}
