internal import CFFmpeg
package import ReelCore

/// Recon of a source that is only heard: its audio tracks, with no video, even if it has one.
package struct SoundRecon {
    private let demuxer: Demuxer
    private let tracks: [AudioScan]

    /// Opens the source. Throws `.input` if it is not media.
    package init(_ source: Locator) throws(ReelFailure) {
        demuxer = try Demuxer(source, purpose: .list(payload: false))
        tracks = try demuxer.streams.filter {
            $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
        }.map { [demuxer] (stream) throws(ReelFailure) in try AudioScan(stream, path: demuxer.path) }
    }

    /// Reads the file once, or little more than the container's table if it has one; `progress` is that of `Recon.run`. Throws
    /// `.noSound` (`.input`) if no track can be heard.
    package consuming func run(
        progress: (_ packets: Int, _ thousandths: Int) -> Void = { _, _ in }
    ) throws(ReelFailure) -> SourceIndex {
        demuxer.select(Set(tracks.map(\.index)))
        let packet = try Packet()
        var packets = 0
        while try demuxer.read(into: packet) {
            packets += 1
            progress(packets, Int(min(max(packet.position, 0), demuxer.fileSize) / max(demuxer.fileSize / 1000, 1)))
            guard let track = tracks.first(where: { $0.index == packet.streamIndex }) else { continue }
            if track.isListening { try demuxer.fetch(packet) }
            try track.add(packet)
            if !track.isListening, demuxer.hasWholeTable, track.takeRest() { demuxer.skip(track.index) }
        }
        for track in tracks { try track.finish() }
        let heard = tracks.compactMap(\.track)
        guard !heard.isEmpty else { throw ReelFailure(.noSound(path: demuxer.path)) }
        return SourceIndex(
            format: demuxer.formatName, fileSize: demuxer.fileSize, startTime: demuxer.startTime, video: .none,
            audio: heard, metadata: [], passthrough: .impossible(.interFrames(codec: VideoTrack.none.stream.codec)),
            diagnostics: [demuxer.damage].compactMap(\.self))
    }
}
