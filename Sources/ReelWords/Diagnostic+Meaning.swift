public import ReelCore

extension Diagnostic.CodingKeys {
    /// The meaning of the code: one sentence.
    public var meaning: String {
        switch self {
        // MARK: Found in the source
        case .fileDamaged: "Reading the file failed near the byte that is named."
        case .sourceDecoded:
            "All of the video was decoded to find its frames, which takes longer than reading its tables."
        case .packetsUndecoded: "Packets of the video do not decode: the frame before each is shown longer."
        case .framesConcealed: "A decoder concealed parts of frames that it could not decode."
        case .packetsSilent: "Packets of sound do not decode and are replaced by silence."
        case .holesSilent: "A track of sound has holes, which stay silent."

        // MARK: Repaired
        case .clockRestarts: "The clock of the source restarts: the video goes on without a gap."
        case .noTimestamps: "The video has no timestamps: its stated rate is used."
        case .timesDerived: "Some frames have no presentation time: it is derived from their order."
        case .framesMoved: "Some frames had the time of the frame before, or an earlier one: they are moved behind it."
        case .holesClosed: "A track of sound has holes too long to be real: they are closed."

        // MARK: Changed
        case .pixelFormatChanged:
            "The encoder, or the container, cannot hold the pixel format: pictures are converted with loss."
        case .pixelFormatForPlayers:
            "Pictures in RGB, or of MJPEG, in H.264 of an MP4 or QuickTime file, get the pixel format that all players show."
        case .sourceConverted: "The pictures of a source are fitted into those of the first clip."
        case .sourceSubtitlesLeftOut:
            "Subtitles of a source are left out: the first source with subtitles has fewer tracks."
        case .sourceColoursKept:
            "The primaries or the transfer of a source's colours differ from the first clip's, and are not converted."
        case .sourceSoundConverted: "The sound of a source is converted to that of the first clip that has sound."
        case .framesScaled: "Frames of another size are scaled to that of the first."
        case .framesConverted: "Frames of another pixel format get that of the first."
        case .interlacingInContainer: "Only the container says that the video is interlaced."
        case .interlacingLost: "The output does not say that the video is interlaced."
        case .interlacingUniform: "All frames are flagged as interlaced, though some are not."
        case .fieldOrdersVary: "Clips show their fields in different orders, so the file as a whole states none."
        case .rotationLost: "The rotation of the video is lost."
        case .highDynamicRangeUnmapped: "Pictures of high dynamic range are written as if they had standard range."
        case .lightLost: "The HDR10 metadata is lost."
        case .colourLost: "The description of the colour is lost."
        case .rangeLimited: "Full range becomes limited range, the only one that the codec's decoders know."
        case .encoderUntried: "Reel has not been tested with the encoder that was asked for."
        case .videoCodecChanged:
            "Video gets another codec, since the container does not hold the source's, or players do not show it there."
        case .audioCodecChanged: "Sound gets another codec."
        case .sampleRateChanged: "Sound gets another sample rate."
        case .channelsChanged: "Sound gets another channel layout."
        case .sampleDepthReduced: "Samples keep fewer bits."
        case .soundUnified: "Sound changes its format midway: all of it is converted to one format."
        case .soundTrimmed:
            "Sound outlasts the video, by less than a frame or in a container that holds no more, and is cut off there."
        case .subtitlesConverted: "Subtitles get another codec."
        case .languagesLost: "The container cannot hold the name of a language."

        // MARK: Left out
        case .firstFramesLeftOut: "Frames at the start refer to what is missing and are left out."
        case .streamLeftOut: "A stream is left out."
        case .dataLeftOut: "Data streams are left out."
        case .pictureExtraLeftOut: "Side data of the pictures is left out."
        case .dolbyVisionLeftOut: "Dolby Vision is left out."
        case .soundNotHeard: "A track is silent while the video lasts and is left out."
        case .cuesWithoutTime: "Subtitles without a time are left out."
        case .cuesUnwritable: "Subtitles that cannot be read or written are left out."
        case .subtitlesLeftOut: "The container cannot hold subtitles."
        case .soundLeftOut: "The container cannot hold sound."
        case .chaptersLeftOut: "The container cannot hold chapters."
        case .attachmentsLeftOut: "The container cannot hold attached files."
        case .tagsLeftOut: "The container cannot hold tags of the file."
        case .timecodeLeftOut: "The container cannot hold a timecode beside a cover."
        case .timelinePartLeftOut: "A timeline has a part that cannot be shown, and it is left out."

        // MARK: Board
        case .redisTooOld: "Redis is older than reel needs."
        case .redisWithoutLog: "Redis keeps no append-only file: a restart loses jobs."
        case .redisEvicts: "Redis evicts keys, so that jobs may vanish."
        case .workerDiskFull: "A worker claims nothing, since a disk is full."
        case .workerSlotsOut: "Slots of a worker claim nothing, since their engines crashed in several jobs in a row."
        case .workerStoreUnusable: "A worker claims nothing, since it cannot write in the store."
        case .workerClockDiffers: "A worker's clock and Redis's differ by more than a minute."
        }
    }

    /// What to do about it: one sentence.
    public var remedy: String {
        switch self {
        // MARK: Found in the source
        case .fileDamaged: "Check the output there; get an undamaged copy."
        case .sourceDecoded: "Nothing."
        case .packetsUndecoded: "Check these places; get an undamaged copy."
        case .framesConcealed: "Check these frames; get an undamaged copy."
        case .packetsSilent: "Check these places; get an undamaged copy."
        case .holesSilent: "Nothing."

        // MARK: Repaired
        case .clockRestarts: "Nothing."
        case .noTimestamps: "Check the speed of the output."
        case .timesDerived: "Nothing."
        case .framesMoved: "Nothing."
        case .holesClosed: "Check that sound and video are in sync."

        // MARK: Changed
        case .pixelFormatChanged: "Choose another encoder to keep it; for transparency in VP8 or VP9, webm or mkv."
        case .pixelFormatForPlayers: "Ask for the pixel format yuv444p if small coloured text must stay sharp."
        case .sourceConverted: "Put a clip of the wanted format first."
        case .sourceSubtitlesLeftOut: "Put a clip of the source with the wanted subtitles first."
        case .sourceColoursKept: "Convert the source first, if the difference matters."
        case .sourceSoundConverted: "Put a clip of the wanted format first."
        case .framesScaled: "Nothing."
        case .framesConverted: "Reverse the parts separately if their depth or colours matter."
        case .interlacingInContainer: "Choose another encoder if players need more."
        case .interlacingLost: "Choose another encoder or container."
        case .interlacingUniform: "Choose FFV1 to keep the flags."
        case .fieldOrdersVary: "Deinterlace first, for players that look only at the file's order."
        case .rotationLost: "Choose mp4 or mov."
        case .highDynamicRangeUnmapped: "Map the source to standard range first."
        case .lightLost: "Choose another encoder or container."
        case .colourLost: "Choose another encoder or container."
        case .rangeLimited: "Nothing, or choose another encoder to keep every value."
        case .encoderUntried: "Choose one of those that the help lists, if the job fails."
        case .videoCodecChanged: "Choose a codec, or another container."
        case .audioCodecChanged: "Choose a codec, or another container."
        case .sampleRateChanged: "Choose another audio codec to keep it."
        case .channelsChanged: "Choose another audio codec to keep it."
        case .sampleDepthReduced: "Choose PCM to keep all bits."
        case .soundUnified: "Nothing."
        case .soundTrimmed: "Ask for lossless output in a container with timestamps to keep it."
        case .subtitlesConverted: "Choose another container to keep the codec."
        case .languagesLost: "Choose mkv."

        // MARK: Left out
        case .firstFramesLeftOut: "Nothing."
        case .streamLeftOut: "See the reason it gives."
        case .dataLeftOut: "Nothing."
        case .pictureExtraLeftOut: "Nothing."
        case .dolbyVisionLeftOut: "Check the colours of the output."
        case .soundNotHeard: "Nothing."
        case .cuesWithoutTime: "Nothing."
        case .cuesUnwritable: "Choose another container to keep them."
        case .subtitlesLeftOut: "Choose mkv or mp4."
        case .soundLeftOut: "Choose mp4 or mkv, or leave the sound out."
        case .chaptersLeftOut: "Choose mkv or mp4."
        case .attachmentsLeftOut: "Choose mkv."
        case .tagsLeftOut: "Choose mkv."
        case .timecodeLeftOut: "Choose mkv."
        case .timelinePartLeftOut: "Change the timeline if the part matters."

        // MARK: Board
        case .redisTooOld: "Install Redis 7.0 or later."
        case .redisWithoutLog: "Set appendonly yes."
        case .redisEvicts: "Set maxmemory-policy noeviction."
        case .workerDiskFull: "Make room on the disk."
        case .workerSlotsOut: "Wait; if the slots do not come back, check the machine."
        case .workerStoreUnusable: "Let the worker's user write in the store; the worker then goes on by itself."
        case .workerClockDiffers: "Set the clock that is wrong."
        }
    }
}
