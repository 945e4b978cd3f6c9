/// Which tags of a file an output keeps, and which of them its container stores.
extension SourceIndex {
    /// The tags of the file that an output keeps: they describe the recording, not the file. `timecode` is the start
    /// timecode that the output has instead of the file's; nil for the file's.
    package func keptTags(timecode: String?) -> [MetadataEntry] {
        let isMixed = Self.formatsWithFacts.contains(format)
        let names = Set(metadata.map(\.tag))
        let kept = metadata.filter { entry in
            guard !entry.value.isEmpty, !Self.factsOfFile.contains(entry.tag) else { return false }
            // MP4's demuxer says what has a language twice, as "location" and as "location-eng".
            if let dash = entry.tag.lastIndex(of: "-"), names.contains(String(entry.tag[..<dash])) { return false }
            return !isMixed || Self.commonTags.contains(entry.tag)
        }
        guard let timecode else { return kept }
        return kept.filter { $0.tag != "timecode" } + [MetadataEntry(name: "timecode", value: timecode)]
    }

    private static let factsOfFile: Set<String> = ["major_brand", "minor_version", "compatible_brands", "encoder"]

    /// Demuxers that report facts of the file as tags, such as its size and the bit rates of its streams. Of these
    /// files only tags with a common name are kept.
    private static let formatsWithFacts: Set<String> = ["asf", "avi", "flv", "mxf", "rm"]

    /// Names that libavformat gives to tags of every container (`avformat.h`, "Public Metadata API").
    private static let commonTags: Set<String> = [
        "title", "artist", "album", "album_artist", "author", "composer", "performer", "publisher", "comment",
        "copyright", "date", "creation_time", "description", "genre", "keywords", "language", "location", "timecode",
        "track", "disc",
    ]
}

extension Container {
    /// Whether an MP4 or MOV stores these tags in a list of any names instead of the places that players know.
    /// libavformat writes a timecode and names such as `com.apple.quicktime.make` only into that list, which takes the
    /// place of a cover.
    package func listsNames(of tags: [MetadataEntry], besideCover: Bool) -> Bool {
        isQuickTime && !besideCover && tags.contains { $0.tag == "timecode" || $0.tag.contains(".") }
    }

    package func lost(_ tags: [MetadataEntry], besideCover: Bool) -> [MetadataEntry] {
        if listsNames(of: tags, besideCover: besideCover) { return [] }
        switch traits.tags {
        case .any: return []
        case .only(let names): return tags.filter { !names.contains($0.tag) }
        }
    }
}

extension MetadataEntry {
    /// The name in lower case, as tags are compared: Matroska writes upper case.
    package var tag: String { name.lowercased() }
}

/// Codecs and clocks of text tracks in each container.
extension Container {
    /// The codec in which a text track of `codec` is written, as FFmpeg spells it: `codec` itself if the container
    /// holds it, else the container's preferred one; nil if it holds none.
    package func subtitleCodec(for codec: String) -> String? {
        traits.subtitles.contains(codec) ? codec : traits.subtitles.first
    }

    /// The time base of a text track in the output: milliseconds if the container lets cues overlap. If not, a tick of
    /// 1/48000 to 1/96000 s that divides the ticks of video and text if possible. libavformat compares ticks of
    /// different tracks, so only a fine clock lets it close samples in time; with a finer one, 12 hours without a cue
    /// would not fit into 32 bits.
    package func subtitleTimeBase(video: TimeBase, text: TimeBase) -> TimeBase {
        guard !traits.holdsOverlappingCues else { return TimeBase(1, 1000) }
        let (most, least): (Int64, Int64) = (96_000, 48_000)
        let (a, b) = (video.secondsPerTick.denominator, text.secondsPerTick.denominator)
        let clock = [Rational.leastCommonMultiple(a, b), a, b].compactMap(\.self).first { $0 <= most } ?? 1000
        return TimeBase(1, clock * ((least + clock - 1) / clock))
    }

    /// The code to pass to libavformat so that the container stores the language; nil if the container cannot store it.
    package func language(_ code: String) -> String? {
        switch traits.languages {
        case .any: return code
        case .none: return nil
        case .packed: return code.utf8.count == 3 && code.utf8.allSatisfy { (97...122).contains($0) } ? code : nil
        case .quickTime:
            // libavformat spells these languages differently.
            let name = Self.quickTimeNames[code] ?? code
            return Self.quickTimeLanguages.contains(Substring(name)) ? name : nil
        }
    }

    private static let quickTimeNames = [
        "deu": "ger", "nld": "dut", "ell": "gre", "isl": "ice", "zho": "chi", "fas": "per", "sqi": "alb", "rum": "ron",
        "cze": "ces", "slo": "slk", "mkd": "mac", "hye": "arm", "kat": "geo", "bod": "tib", "mya": "bur", "msa": "may",
        "cym": "wel", "eus": "baq", "fre": "fra", "swe": "sve", "hrv": "hr ", "srp": "sr ", "fao": "fo ", "pan": "pa ",
        "gle": "iri",
    ]

    private static let quickTimeLanguages = Set(
        """
        eng fra ger ita dut sve spa dan por nor heb jpn ara fin gre ice mlt tur chi urd hin tha kor lit pol hun est \
        lav per rus iri alb ron ces slk slv yid mac bul ukr bel uzb kaz aze arm geo mol kir tgk tuk mon pus kur kas \
        snd tib nep san mar ben asm guj ori mal kan tam tel sin bur khm lao vie ind tgl may amh tir orm som swa kin \
        run nya mlg epo wel baq cat lat que grn aym tat uig dzo jav
        """.split(separator: " ") + ["hr ", "sr ", "fo ", "pa "])
}
