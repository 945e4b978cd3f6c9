// Reads damaged media through the functions of reel's C shims, built with sanitizers: usage: shims ROUNDS SEED FILE...
//
// Each round damages every packet of a file in a few places, decodes what comes, and hands it to each function.
#define _GNU_SOURCE
#include <CFFmpeg/shim.h>
#include <CSandbox/shim.h>
#include <fcntl.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static unsigned long packets, frames, refused;

// SplitMix64.
static uint64_t next(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void damage(AVPacket *packet) {
    if (packet->size == 0 || av_packet_make_writable(packet) < 0) return;
    for (uint64_t places = next() % 4; places > 0; places--) {
        packet->data[next() % (uint64_t)packet->size] ^= (uint8_t)(1u << (next() % 8));
    }
    if (next() % 16 == 0) av_shrink_packet(packet, (int)(next() % (uint64_t)packet->size));
}

static void look(AVFrame *frame) {
    frames++;
    reel_frame_duration(frame);
    reel_frame_carried(frame);
    const int interlaced = reel_frame_is_interlaced(frame), top = reel_frame_top_field_first(frame);
    reel_frame_set_fields(frame, !interlaced, !top);
    reel_frame_set_fields(frame, interlaced, top);
    const AVPixFmtDescriptor *format = frame->width > 0 ? av_pix_fmt_desc_get(frame->format) : NULL;
    if (!format || format->flags & (AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM)) return;
    const int corners[4][2] = {
        {0, 0}, {frame->width - 1, 0}, {0, frame->height - 1}, {frame->width - 1, frame->height - 1}};
    for (int component = 0; component < format->nb_components; component++) {
        const int isChroma = (component == 1 || component == 2) && !(format->flags & AV_PIX_FMT_FLAG_RGB);
        for (int corner = 0; corner < 4; corner++) {
            uint32_t sample = 0;
            reel_read_sample(
                frame, format, corners[corner][0] >> (isChroma ? format->log2_chroma_w : 0),
                corners[corner][1] >> (isChroma ? format->log2_chroma_h : 0), component, &sample);
        }
    }
    if (av_frame_make_writable(frame) == 0) reel_frame_fill_black(frame, frame->color_range);
}

static void receive(AVCodecContext *decoder, AVFrame *frame) {
    while (avcodec_receive_frame(decoder, frame) == 0) {
        look(frame);
        av_frame_unref(frame);
    }
}

static AVCodecContext *opened(const AVStream *stream) {
    const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
    AVCodecContext *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!decoder) return NULL;
    if (avcodec_parameters_to_context(decoder, stream->codecpar) == 0) {
        decoder->pkt_timebase = stream->time_base;
        decoder->thread_count = 1;
        reel_decoder_carries(decoder);
        if (avcodec_open2(decoder, codec, NULL) == 0) return decoder;
    }
    avcodec_free_context(&decoder);
    return NULL;
}

static int write_nothing(void *opaque, const uint8_t *bytes, int count) {
    *(uint64_t *)opaque += count > 0 ? bytes[0] + (uint64_t)count : 0;
    return count;
}

static int64_t seek_nowhere(void *opaque, int64_t offset, int whence) {
    (void)opaque;
    return whence == SEEK_SET ? offset : -1;
}

// What a muxer gets of a stream: its side data, in a file that is written into nothing.
static void copy(const AVStream *stream) {
    AVFormatContext *output = NULL;
    if (avformat_alloc_output_context2(&output, NULL, "nut", NULL) < 0) return;
    uint64_t written = 0;
    output->pb = reel_alloc_writer(av_malloc(4096), 4096, write_nothing, seek_nowhere);
    output->pb->opaque = &written;
    AVStream *made = avformat_new_stream(output, NULL);
    avcodec_parameters_copy(made->codecpar, stream->codecpar);
    for (int kind = 0; kind < AV_PKT_DATA_NB; kind++) {
        size_t size = 0;
        const uint8_t *found = reel_stream_side_data(stream, (enum AVPacketSideDataType)kind, &size);
        if (!found || size == 0) continue;
        uint8_t *room = reel_stream_new_side_data(made, (enum AVPacketSideDataType)kind, size);
        if (room) memcpy(room, found, size);
    }
    if (avformat_write_header(output, NULL) >= 0) av_write_trailer(output);
    av_freep(&output->pb->buffer);
    avio_context_free(&output->pb);
    avformat_free_context(output);
}

static void decode(const char *path) {
    AVFormatContext *input = NULL;
    if (avformat_open_input(&input, path, NULL, NULL) < 0) {
        refused++;
        return;
    }
    avformat_find_stream_info(input, NULL);
    AVCodecContext **decoders = calloc(input->nb_streams + 1, sizeof *decoders);
    const unsigned known = input->nb_streams;
    for (unsigned i = 0; i < known; i++) {
        copy(input->streams[i]);
        decoders[i] = opened(input->streams[i]);
    }
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    for (int64_t number = 0; number < 400 && av_read_frame(input, packet) >= 0; number++) {
        AVCodecContext *decoder = (unsigned)packet->stream_index < known ? decoders[packet->stream_index] : NULL;
        if (decoder && decoder->codec_type != AVMEDIA_TYPE_SUBTITLE) {
            packets++;
            damage(packet);
            reel_packet_carry(packet, number);
            if (avcodec_send_packet(decoder, packet) == 0) receive(decoder, frame);
        }
        av_packet_unref(packet);
    }
    for (unsigned i = 0; i < known; i++) {
        if (!decoders[i]) continue;
        if (decoders[i]->codec_type != AVMEDIA_TYPE_SUBTITLE && avcodec_send_packet(decoders[i], NULL) == 0) {
            receive(decoders[i], frame);
        }
        avcodec_free_context(&decoders[i]);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    free(decoders);
    avformat_close_input(&input);
}

// Pictures of all formats, and of sizes that no plane divides.
static void blacken(void) {
    for (enum AVPixelFormat format = 0; format < AV_PIX_FMT_NB; format++) {
        const AVPixFmtDescriptor *known = av_pix_fmt_desc_get(format);
        if (!known || known->flags & AV_PIX_FMT_FLAG_HWACCEL) continue;
        AVFrame *frame = av_frame_alloc();
        frame->format = format;
        frame->width = (int)(1 + next() % 67);
        frame->height = (int)(1 + next() % 67);
        if (av_frame_get_buffer(frame, 0) == 0) look(frame);
        av_frame_free(&frame);
    }
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    av_log_set_level(AV_LOG_QUIET);
    reel_set_heaps();
    reel_set_stacks();
    reel_clear_memory();
    state = strtoull(arguments[2], NULL, 10);
    for (long round = 0; round < strtol(arguments[1], NULL, 10); round++) {
        for (int file = 3; file < count; file++) decode(arguments[file]);
        blacken();
        reel_empty_heaps();
    }
    FILE *room = tmpfile();
    reel_reserve_room(fileno(room), 0, 1 << 20);
    reel_begin_writing(fileno(room), 0, 1 << 20);
    fclose(room);
    reel_landlock_version();
    struct reel_landlock_ruleset rules = {1, 0, 0};
    const int set = reel_landlock_create(&rules), folder = open(".", O_PATH | O_CLOEXEC);
    if (set >= 0) {
        reel_landlock_allow(set, folder, 1);
        close(set);
    }
    if (folder >= 0) close(folder);
    reel_adopt_orphans();
    reel_close_memory();
    reel_drop_capabilities();
    reel_forbid_new_privileges();
    printf("%lu packets damaged, %lu frames read, %lu files refused\n", packets, frames, refused);
    return packets > 0 && frames > 0 ? 0 : 1;
}
