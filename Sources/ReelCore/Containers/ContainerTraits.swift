/// What reel knows of a container that it writes; a row of the table below.
package struct ContainerTraits: Sendable {
    package let muxer: String
    /// File extensions of this container, in lower case; reel writes the first.
    package let extensions: [String]
    /// Containers of one family share a muxer and most of their behaviour.
    package let family: Family
    /// The clock to which the container rounds all times; nil if each stream has a clock of its own.
    package var clock: TimeBase?
    /// Whether the container keeps timestamps as they are, so that an output may start at 0. If not, all of them are
    /// shifted by the same time.
    package var startsAtZero = true
    package var storesDurations = false
    /// Whether the end of a stream's last frame is stored only in a metadata tag.
    package var tellsEndByTag = false
    /// Whether several audio packets may share one timestamp, from which a demuxer counts on.
    package var sharesTimestamps = false
    /// Codecs whose packets have no times in the container: a demuxer counts them by the lengths of blocks, and encoders count
    /// otherwise where those change.
    package var codecsWithoutTimes: Set<String> = []
    /// The rules for frames and sound in a container that stores no times of their own; nil if it stores them.
    package var pacing: Pacing?

    /// Video codecs that the container is made for, the usual one first; empty if it takes any.
    package var videoCodecs: [String] = []
    /// The video codecs that players show in this container. Another one is written only if a user asks for it. Nil if
    /// players show all that the container holds.
    package var shownCodecs: Set<String>?
    /// All video and audio codecs that the container holds; nil to ask libavformat.
    package var codecs: Set<String>?
    /// Codecs that the container holds although libavformat's query denies it.
    package var codecsBeside: Set<String> = []
    /// Codecs of reel's encoders that reel does not write to this container: libavformat's query denies most of them
    /// and wrongly claims the others.
    package var codecsRefused: Set<String> = []
    /// Whether the container holds FFV1 together with PCM of any kind.
    package var isLossless = false

    /// Text codecs that the container holds; texts of other codecs are converted to the first. Empty if it holds none.
    package var subtitles: [String] = []
    package var holdsOverlappingCues = true
    package var holdsChapters = true
    package var showsUntitledChapters = false
    /// Which tags of the whole file the container stores: title, artist and the like.
    package var tags = Tags.any
    package var attachments = Attachments.none
    /// Whether covers are tags of the sound's stream (xiph.org, "VorbisComment", METADATA_BLOCK_PICTURE), which
    /// libavformat does not write of its own accord.
    package var hasCoversInTags = false
    package var languages = Languages.any

    package var holdsRotation = false
    package var holdsFieldOrder = false
    /// Whether the container stores a packet of transparency beside each of the video's, as encoders of VP8 and VP9
    /// make them (WebM's BlockAdditional).
    package var holdsTransparencyBeside = false
    package var holdsLight = true
    package var holdsColour = true
    /// Audio codecs whose preroll the container can hide: the packets that a decoder needs before the first audible
    /// sound.
    package var prerollHidden = Preroll.none

    /// What is special about moving pictures that loop; nil for containers of video.
    package var loops: LoopTraits?

    /// Whether the container holds sound without pictures, in one track, from its first sample on.
    package var isOfSound = false

    /// The rules of a container without timestamps: every frame lasts equally long, and all tracks begin with the
    /// first.
    package struct Pacing: Sendable {
        /// The frame rates that it can have, in frames per second; nil for any.
        package var frameRates: [Rational]?
        /// The one sample rate of its sound, in samples per second; nil for any.
        package var sampleRate: Int?
        /// Whether the sound of each frame is stored beside it, so that the muxer cuts the sound and puts the packets
        /// in order itself.
        package var storesSoundByFrame = false
    }

    package enum Family: Sendable { case quickTime, matroska, other }

    package enum Tags: Sendable {
        case any
        case only(Set<String>)

        static let none = Tags.only([])
    }

    package enum Attachments: Sendable {
        case none, all
        case covers(Set<String>)
    }

    package enum Languages: Sendable {
        case any, none
        /// Three lower-case letters (ISO 639-2).
        case packed
        case quickTime
    }

    package enum Preroll: Sendable {
        case none, all
        case of(codec: String)
    }
}

/// The table of containers. A new one is a case of `Container`, and its row here. Rows are made once: traits are asked
/// of every packet.
extension ContainerTraits {
    fileprivate static let mp4 = ContainerTraits(
        muxer: "mp4", extensions: ["mp4", "m4v"], family: .quickTime, storesDurations: true,
        shownCodecs: ["h264", "hevc", "av1", "vp9", "mpeg4", "mpeg2video"],
        // libavformat writes Vorbis under a private object type that few players know, and does not store where its
        // first packet begins.
        codecsRefused: pcm(["u8", "s16le", "s24le", "s32le", "s64le", "f32le", "f64le"])
            .union(["vorbis", "vp8", "ffv1", "rawvideo", "prores"]),
        // Samples of a track must not overlap (ISO 14496-12 8.6.1.2).
        subtitles: ["mov_text"], holdsOverlappingCues: false,
        // What iTunes and other players know, as libavformat's muxer writes it; for other names, see
        // `Container.listsNames`.
        tags: .only([
            "title", "artist", "album_artist", "composer", "album", "date", "comment", "genre", "copyright", "grouping",
            "lyrics", "description", "synopsis", "show", "episode_id", "network", "keywords", "episode_sort",
            "season_number", "media_type", "hd_video", "gapless_playback", "compilation", "track", "disc", "location",
            "creation_time",
        ]), attachments: .covers(["mjpeg", "png", "bmp"]),
        languages: .packed, holdsRotation: true, holdsFieldOrder: true, prerollHidden: .all)

    fileprivate static let mov = ContainerTraits(
        muxer: "mov", extensions: ["mov", "qt"], family: .quickTime, storesDurations: true,
        // libavformat writes FFV1 under AVI's tag, of which its query does not know.
        codecsBeside: ["ffv1"],
        // libavformat's query claims that MOV holds these, but its muxer refuses them; for Vorbis, see MP4.
        codecsRefused: ["flac", "opus", "truehd", "vp9", "av1", "vorbis", "pcm_s64le"], isLossless: true,
        subtitles: ["mov_text"], holdsOverlappingCues: false,
        // QuickTime's user data, as libavformat's muxer writes it.
        tags: .only([
            "title", "artist", "author", "album", "date", "comment", "genre", "copyright", "make", "model", "location",
            "creation_time",
        ]), languages: .quickTime, holdsRotation: true, holdsFieldOrder: true, prerollHidden: .all)

    fileprivate static let mkv = ContainerTraits(
        muxer: "matroska", extensions: ["mkv"], family: .matroska, clock: TimeBase(1, 1000),
        codecsRefused: ["pcm_s64le"], isLossless: true, subtitles: ["subrip", "ass", "webvtt"],
        showsUntitledChapters: true, attachments: .all,
        holdsFieldOrder: true, holdsTransparencyBeside: true, prerollHidden: .of(codec: "opus"))

    fileprivate static let webm = ContainerTraits(
        muxer: "webm", extensions: ["webm"], family: .matroska, clock: TimeBase(1, 1000), videoCodecs: ["vp9", "av1"],
        codecs: ["vp9", "av1", "vp8", "opus", "vorbis"], subtitles: ["webvtt"], showsUntitledChapters: true,
        holdsTransparencyBeside: true, prerollHidden: .of(codec: "opus"))

    fileprivate static let ts = ContainerTraits(
        muxer: "mpegts", extensions: ["ts", "mts", "m2ts"], family: .other, startsAtZero: false, sharesTimestamps: true,
        // libavformat's query does not work for this muxer: it takes any codec, as private data that no player
        // can read. The codecs listed have a stream type in ISO 13818-1 or a registration that players know.
        codecs: [
            "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "aac", "mp2", "mp3", "ac3", "eac3", "dts", "opus",
        ], holdsChapters: false, tags: .none, holdsLight: false)

    fileprivate static let nut = ContainerTraits(
        muxer: "nut", extensions: ["nut"], family: .other, startsAtZero: false, tellsEndByTag: true,
        codecsRefused: ["prores", "alac"], isLossless: true,
        holdsLight: false, holdsColour: false)

    fileprivate static let avi = ContainerTraits(
        muxer: "avi", extensions: ["avi"], family: .other, pacing: Pacing(), videoCodecs: ["mjpeg", "ffv1"],
        // AVI has no presentation times, so a codec's frames must be coded in the order in which they are shown. It has
        // no start times either: a compressed track would begin with its encoder's padding. PCM has none.
        codecs: pcm(["u8", "s16le", "s24le", "s32le", "f32le", "f64le"])
            .union(["mjpeg", "ffv1", "rawvideo", "mpeg4"]),
        isLossless: true, holdsChapters: false,
        // Of RIFF's INFO list, what libavformat's muxer writes and a demuxer finds.
        tags: .only([
            "title", "artist", "album", "date", "comment", "genre", "copyright", "language", "track", "encoded_by",
            "timecode",
        ]), languages: .none, holdsLight: false, holdsColour: false)

    fileprivate static let mxf = ContainerTraits(
        muxer: "mxf", extensions: ["mxf"], family: .other,
        pacing: Pacing(
            // SMPTE ST 377-1 allows any; libavformat 5.1 writes these.
            frameRates: [
                Rational(24000, 1001), Rational(24), Rational(25), Rational(30000, 1001), Rational(30), Rational(50),
                Rational(60000, 1001), Rational(60),
            ],
            sampleRate: 48_000, storesSoundByFrame: true),
        videoCodecs: ["mpeg2video", "prores"], codecs: pcm(["s16le", "s24le"]).union(["mpeg2video", "prores"]),
        holdsChapters: false, tags: .only(["timecode"]), languages: .none, holdsLight: false,
        holdsColour: false)

    private static func pcm(_ formats: [String]) -> Set<String> { Set(formats.map { "pcm_" + $0 }) }

    fileprivate static let gif = ContainerTraits(
        muxer: "gif", extensions: ["gif"], family: .other, codecs: ["gif"], holdsChapters: false, tags: .none,
        loops: LoopTraits(
            encoder: "gif", pixelFormat: "pal8", clock: TimeBase(1, 100), hasPalette: true, mostFrames: Rational(30),
            usualSide: 640, mostDelay: 655))

    fileprivate static let apng = ContainerTraits(
        muxer: "apng", extensions: ["apng"], family: .other, codecs: ["apng"], holdsChapters: false, tags: .none,
        loops: LoopTraits(
            encoder: "apng", pixelFormat: "rgb24", transparentFormat: "rgba", clock: TimeBase(1, 1000), mostDelay: 65))

    fileprivate static let webp = ContainerTraits(
        muxer: "webp", extensions: ["webp"], family: .other, codecs: ["webp"], holdsChapters: false, tags: .none,
        loops: LoopTraits(
            // Opacity tells which pixels change.
            encoder: "libwebp", pixelFormat: "yuva420p", losslessFormat: "bgra", clock: TimeBase(1, 1000),
            mostSide: 16_383, mostDelay: 16_777))

    fileprivate static let m4a = ContainerTraits(
        muxer: "ipod", extensions: ["m4a", "m4b", "aac"], family: .quickTime, storesDurations: true,
        codecs: ["aac", "alac"], tags: mp4.tags, attachments: mp4.attachments, languages: .packed,
        prerollHidden: .all, isOfSound: true)

    fileprivate static let mp3 = ContainerTraits(
        muxer: "mp3", extensions: ["mp3"], family: .other, startsAtZero: false, codecs: ["mp3"], holdsChapters: true,
        attachments: .covers(["mjpeg", "png"]), languages: .none, isOfSound: true)

    fileprivate static let flac = ContainerTraits(
        muxer: "flac", extensions: ["flac"], family: .other, codecs: ["flac"], holdsChapters: false,
        attachments: .covers(["mjpeg", "png"]), languages: .none, isOfSound: true)

    fileprivate static let wav = ContainerTraits(
        muxer: "wav", extensions: ["wav", "aif", "aiff"], family: .other,
        codecs: pcm(["u8", "s16le", "s24le", "s32le", "f32le", "f64le"]), holdsChapters: false,
        // Of RIFF's INFO list, what libavformat's muxer writes and a demuxer finds.
        tags: .only(["title", "artist", "album", "date", "comment", "genre", "copyright", "language", "track"]),
        languages: .none, isOfSound: true)

    fileprivate static let ogg = ContainerTraits(
        muxer: "ogg", extensions: ["ogg", "oga"], family: .other, codecsWithoutTimes: ["vorbis"],
        codecs: ["vorbis", "opus", "flac"],
        attachments: .covers(["mjpeg", "png"]), hasCoversInTags: true, languages: .none, isOfSound: true)

    fileprivate static let opus = ContainerTraits(
        muxer: "opus", extensions: ["opus"], family: .other, codecs: ["opus"],
        attachments: .covers(["mjpeg", "png"]), hasCoversInTags: true, languages: .none, isOfSound: true)
}

extension Container {
    package var traits: ContainerTraits {
        switch self {
        case .mp4: .mp4
        case .mov: .mov
        case .mkv: .mkv
        case .webm: .webm
        case .ts: .ts
        case .nut: .nut
        case .avi: .avi
        case .mxf: .mxf
        case .gif: .gif
        case .apng: .apng
        case .webp: .webp
        case .m4a: .m4a
        case .mp3: .mp3
        case .flac: .flac
        case .wav: .wav
        case .ogg: .ogg
        case .opus: .opus
        }
    }

    package func holds(codec: String) -> Bool {
        traits.codecs?.contains(codec) ?? !traits.codecsRefused.contains(codec)
    }

    package func shows(codec: String) -> Bool { traits.shownCodecs?.contains(codec) ?? true }

    package var isQuickTime: Bool { traits.family == .quickTime }
    package var isMatroska: Bool { traits.family == .matroska }

    /// Containers that hold FFV1 together with PCM of any kind, Matroska first.
    package static let lossless: [Container] = [.mkv] + allCases.filter { $0 != .mkv && $0.traits.isLossless }

    /// Whether pictures, and sound if it holds any, can be kept without loss.
    package var keepsAll: Bool {
        traits.isLossless || traits.loops?.hasPalette == false
            || traits.isOfSound
                && traits.codecs?.contains { AudioEncoderTraits.making($0).isLossless } == true
    }

    package static let ofPictures = allCases.filter { !$0.traits.isOfSound }
    package static let ofSound = allCases.filter(\.traits.isOfSound)

    package static let looping = allCases.filter { $0.traits.loops != nil }

    /// The container whose usual extension this is, in upper or lower case; nil for any other text, aliases included.
    package init?(exactExtension: String) { self.init(rawValue: exactExtension.lowercased()) }

    /// The container of files with this extension, in upper or lower case; nil if reel does not write that container.
    package init?(fileExtension: String) {
        let wanted = fileExtension.lowercased()
        guard let found = Container.allCases.first(where: { $0.traits.extensions.contains(wanted) }) else { return nil }
        self = found
    }

    /// The container that suits sound in files with this extension, in upper or lower case, which reel reads and does not
    /// write: players play it, and it loses least. Nil for any other text.
    package init?(forSound fileExtension: String) {
        switch fileExtension.lowercased() {
        case "wma", "mka", "ac3", "eac3", "dts", "mp2", "mpc", "amr", "awb", "3ga", "ra", "m4r": self = .m4a
        case "ape", "wv", "tta", "tak": self = .flac
        case "caf", "au", "snd", "w64", "aifc": self = .wav
        case "weba", "spx": self = .opus
        default: return nil
        }
    }

    package func holds(_ attachment: Attachment) -> Bool {
        switch traits.attachments {
        case .none: false
        case .all: true
        case .covers(let codecs): attachment.isCover && codecs.contains(attachment.codec)
        }
    }

    /// Whether the container can hide the preroll of a passed-through track, by an edit list or a codec delay: the
    /// packets that a decoder needs before the track's first audible sound.
    package func hidesPreroll(of track: AudioTrack) -> Bool {
        switch traits.prerollHidden {
        case .none: false
        case .all: true
        case .of(let codec): track.codec == codec
        }
    }
}
