/// What reel knows of a container that it writes: a row of `Container.traits`.
public struct ContainerTraits: Sendable {
    /// The muxer's name as libavformat spells it.
    public let muxer: String
    /// Extensions of files that are of this container, in lower case; the first is the one that reel writes.
    public let extensions: [String]
    public let family: Family
    /// What all times are rounded to; nil if each stream has a clock of its own.
    public var clock: TimeBase?
    /// Whether a stream's first time is kept as it is.
    public var startsAtZero = true
    /// Whether packets have durations of their own.
    public var storesDurations = false
    /// Whether only a tag says when its last frame ends.
    public var tellsEndByTag = false
    /// Whether packets of sound may share a timestamp, from which a demuxer counts on.
    public var sharesTimestamps = false

    /// Codecs of video that it is made for, the usual one first; empty if it takes any.
    public var videoCodecs: [String] = []
    /// All codecs of video and sound that it holds; nil if libavformat can be asked.
    public var codecs: Set<String>?
    /// Codecs of which libavformat says wrongly that it cannot write them, and those that it can.
    public var codecsBeside: Set<String> = []
    public var codecsRefused: Set<String> = []
    /// Whether it holds FFV1 beside PCM of any kind.
    public var isLossless = false

    /// Codecs of texts that it holds; the first is the one that others are converted to. Empty if it holds none.
    public var texts: [String] = []
    /// Whether cues of a track may overlap.
    public var holdsOverlappingCues = true
    public var holdsChapters = true
    /// Whether players see chapters without a title.
    public var showsUntitledChapters = false
    /// Title, artist and their like, for the whole file.
    public var holdsTags = true
    /// Covers and attached files.
    public var attachments = Attachments.none
    public var languages = Languages.any

    public var holdsRotation = false
    /// Whether it says how fields follow each other.
    public var holdsFieldOrder = false
    public var holdsLight = true
    public var holdsColour = true
    /// Codecs of sound of which it hides the packets that a decoder must have had before the first sound.
    public var prerollHidden = Preroll.none

    /// Containers that one muxer writes, in the same way.
    public enum Family: Sendable { case quickTime, matroska, other }

    public enum Attachments: Sendable {
        case none, all
        /// Pictures of these codecs.
        case covers(Set<String>)
    }

    public enum Languages: Sendable {
        case any
        /// Three letters.
        case packed
        /// QuickTime's own numbers.
        case quickTime
    }

    public enum Preroll: Sendable {
        case none, all
        case of(codec: String)
    }
}

extension Container {
    /// The table of containers; a new one is a case of `Container` and its row here.
    public var traits: ContainerTraits {
        switch self {
        case .mp4:
            ContainerTraits(
                muxer: "mp4", extensions: ["mp4", "m4v"], family: .quickTime, storesDurations: true,
                // Under a private object type that few players know, without a word on where its first packet begins.
                codecsRefused: ["vorbis"],
                // Samples follow one another (ISO 14496-12 8.6.1.2).
                texts: ["mov_text"], holdsOverlappingCues: false, attachments: .covers(["mjpeg", "png", "bmp"]),
                languages: .packed, holdsRotation: true, holdsFieldOrder: true, prerollHidden: .all)
        case .mov:
            ContainerTraits(
                muxer: "mov", extensions: ["mov", "qt"], family: .quickTime, storesDurations: true,
                // libavformat writes FFV1 under the tag that AVI has for it, which its query does not know of.
                codecsBeside: ["ffv1"],
                // It says that MOV holds these, and refuses to write them; of Vorbis as in MP4.
                codecsRefused: ["flac", "opus", "truehd", "vp9", "av1", "vorbis"], isLossless: true,
                texts: ["mov_text"], holdsOverlappingCues: false, languages: .quickTime, holdsRotation: true,
                holdsFieldOrder: true, prerollHidden: .all)
        case .mkv:
            ContainerTraits(
                muxer: "matroska", extensions: ["mkv"], family: .matroska, clock: TimeBase(1, 1000), isLossless: true,
                texts: ["subrip", "ass", "webvtt"], showsUntitledChapters: true, attachments: .all,
                holdsFieldOrder: true, prerollHidden: .of(codec: "opus"))
        case .webm:
            ContainerTraits(
                muxer: "webm", extensions: ["webm"], family: .matroska, clock: TimeBase(1, 1000),
                videoCodecs: ["vp9", "av1"], texts: ["webvtt"], showsUntitledChapters: true,
                prerollHidden: .of(codec: "opus"))
        case .ts:
            ContainerTraits(
                muxer: "mpegts", extensions: ["ts", "mts", "m2ts"], family: .other, startsAtZero: false,
                sharesTimestamps: true,
                // Its muxer cannot be asked; it takes anything, as private data that nobody can read. These have a stream
                // type in ISO 13818-1 or a registration that players know.
                codecs: [
                    "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "aac", "mp2", "mp3", "ac3", "eac3", "dts",
                    "opus",
                ], holdsChapters: false, holdsTags: false, holdsLight: false)
        case .nut:
            ContainerTraits(
                muxer: "nut", extensions: ["nut"], family: .other, startsAtZero: false, tellsEndByTag: true,
                isLossless: true,
                holdsLight: false, holdsColour: false)
        }
    }

    public var isQuickTime: Bool { traits.family == .quickTime }
    public var isMatroska: Bool { traits.family == .matroska }

    /// Containers that hold FFV1 beside PCM of any kind.
    public static let lossless: [Container] = [.mkv] + allCases.filter { $0 != .mkv && $0.traits.isLossless }

    /// Its own extension, in any case, and nothing else.
    public init?(exactExtension: String) { self.init(rawValue: exactExtension.lowercased()) }

    /// The container that files with this extension are, in any case; nil if reel does not write that one.
    public init?(fileExtension: String) {
        let wanted = fileExtension.lowercased()
        guard let found = Container.allCases.first(where: { $0.traits.extensions.contains(wanted) }) else { return nil }
        self = found
    }

    public func holds(_ attachment: Attachment) -> Bool {
        switch traits.attachments {
        case .none: false
        case .all: true
        case .covers(let codecs): attachment.isCover && codecs.contains(attachment.codec)
        }
    }

    /// Whether packets that a decoder must have had before a copied track's first sound can be hidden: by an edit list,
    /// or a codec delay.
    public func hidesPreroll(of track: AudioTrack) -> Bool {
        switch traits.prerollHidden {
        case .none: false
        case .all: true
        case .of(let codec): track.codec == codec
        }
    }
}
