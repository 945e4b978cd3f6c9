/// Language codes in each container's form.
extension Container {
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
