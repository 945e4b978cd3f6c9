import ReelCore
import Testing

@Suite("The tables of encoders and containers")
struct TraitsTests {
    @Test("every container writes its own extension first, and no two share one")
    func containers() {
        let rows = Container.allCases.map { ($0, $0.traits) }
        #expect(rows.allSatisfy { $0.1.extensions.first == $0.0.rawValue })
        let extensions = rows.flatMap(\.1.extensions)
        #expect(Set(extensions).count == extensions.count)
        #expect(Set(rows.map(\.1.muxer)).count == rows.count)
        for (container, traits) in rows {
            for name in traits.extensions { #expect(Container(fileExtension: name.uppercased()) == container) }
            #expect(traits.codecsBeside.isDisjoint(with: traits.codecsRefused))
        }
        #expect(Container(fileExtension: "wmv") == nil && Container(exactExtension: "m4v") == nil)
    }

    @Test("every encoder has one row, and a name that a user may give means one encoder")
    func encoders() {
        let names = EncoderTraits.all.flatMap { [$0.name] + $0.aliases }
        #expect(Set(names).count == names.count)
        let listed = EncoderTraits.all.filter(\.isListed)
        #expect(Set(listed.map(\.codec)).count == listed.count, "a codec's name chooses one of them")
        #expect(EncoderTraits.all.allSatisfy { !$0.keepsCodec || $0.isListed })
        #expect(EncoderTraits.named("libx265").name == "libx265")
        let other = EncoderTraits.named("cinepak", codec: "cinepak")
        #expect(other.codec == "cinepak" && !other.isLossless && other.crf == nil)
    }

    @Test("every audio encoder has one row, and a codec's name means one encoder")
    func audioEncoders() {
        let rows = AudioEncoderTraits.all
        #expect(Set(rows.map(\.name)).count == rows.count)
        #expect(Set(rows.map(\.codec)).count == rows.count)
        #expect(AudioEncoderTraits.making("opus").name == "libopus")
        #expect(rows.filter(\.isForAnySource).map(\.codec) == ["aac", "opus", "flac"])
        let other = AudioEncoderTraits.named("ac3_fixed", codec: "ac3")
        #expect(other.codec == "ac3" && !other.keepsCodec && !other.isLossless && !other.isReported)
        let pcm = AudioEncoderTraits.making("pcm_s16be")
        #expect(pcm.name == "pcm_s16be" && pcm.keepsCodec && pcm.isLossless)
    }

    @Test("a decoder of passed-through sound gets the packets before that its codec needs")
    func preroll() {
        let packets = { (codec: String) in
            [0, 960, 1024, 5760].map { AudioEncoderTraits.making(codec).prerollPackets($0) }
        }
        #expect(packets("flac") == [0, 0, 0, 0] && packets("alac") == [0, 0, 0, 0])
        #expect(packets("opus") == [32, 4, 4, 1])
        #expect(packets("mp3") == [9, 9, 9, 9] && packets("ac3") == [2, 2, 2, 2])
    }

    @Test(
        "every encoder costs something at every preset, more with more threads and pixels",
        arguments: EncoderTraits.all.map(\.name))
    func costs(name: String) throws {
        let presets = [nil, "ultrafast", "medium", "placebo", "2", "9", "nonsense"]
        for preset in presets {
            func needs(width: Int, threads: Int) throws -> EncoderNeeds {
                let target = Plans.target(name, width: width, preset: preset, threads: threads)
                return EncoderNeeds(try #require(target.encoding))
            }
            let least = try needs(width: 1280, threads: 1)
            #expect(least.memory > 1 << 20 && least.weight >= 1)
            #expect(try needs(width: 1280, threads: 4).memory >= least.memory)
            #expect(try needs(width: 3840, threads: 1).memory > least.memory)
        }
    }

    @Test("transparency beside the packets costs a second encoder", arguments: ["libvpx", "libvpx-vp9"])
    func transparency(name: String) throws {
        for threads in [1, 4] {
            let opaque = try #require(Plans.target(name, threads: threads).encoding)
            let target = Plans.target(name, pixelFormat: "yuva420p", threads: threads)
            let transparent = try #require(target.encoding)
            #expect(!opaque.hasTransparencyBeside && transparent.hasTransparencyBeside)
            let (one, two) = (EncoderNeeds(opaque), EncoderNeeds(transparent))
            #expect((2 * one.memory - 1...2 * one.memory + 1).contains(two.memory))
            #expect(two.reserved == 2 * one.reserved && two.weight == 2 * one.weight)
        }
        #expect(Plans.target("ffv1", pixelFormat: "yuva420p").encoding?.hasTransparencyBeside == false)
    }
}
