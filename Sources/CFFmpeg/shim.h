// What Swift cannot import from FFmpeg's headers: macros that build values, variadic functions, and fields
// that changed between FFmpeg 5.1 and 7.
#ifndef REEL_CFFMPEG_SHIM_H
#define REEL_CFFMPEG_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/cpu.h>
#include <libavutil/crc.h>
#include <libavutil/display.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/hash.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static const int64_t reel_nopts = AV_NOPTS_VALUE;
static const int reel_error_eof = AVERROR_EOF;
static const int reel_error_again = AVERROR(EAGAIN);
static const int reel_error_exit = AVERROR_EXIT;
static const int reel_error_invalid_data = AVERROR_INVALIDDATA;
static const int reel_error_no_space = AVERROR(ENOSPC);
static const int reel_error_no_memory = AVERROR(ENOMEM);
static const int reel_error_no_access = AVERROR(EACCES);
static const int reel_error_no_entry = AVERROR(ENOENT);
static const int reel_error_decoder_not_found = AVERROR_DECODER_NOT_FOUND;

/// Whether a line of the log comes from a demuxer.
static inline int reel_is_demuxer(void *context) {
    const AVClass *origin = context ? *(const AVClass **)context : NULL;
    return origin && origin->get_category && origin->get_category(context) == AV_CLASS_CATEGORY_DEMUXER;
}

/// How long a decoded frame is shown, in its time base; 0 if the decoder does not say.
static inline int64_t reel_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

/// Opens an encoder, without the power to take real-time priority. SVT-AV1 would take it for the calling thread and for all of
/// its own if the process is root's, and processes that such a thread starts would have it, too: nothing else gets a turn then.
static inline int reel_open_encoder(AVCodecContext *context, const AVCodec *codec, AVDictionary **options) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct held[2], lent[2];
    // A confined process has no such power, and may not ask.
    const uint32_t nice = 1u << CAP_SYS_NICE;
    int holds = syscall(SYS_capget, &header, held) == 0 && (held[0].effective & nice);
    if (holds) {
        lent[0] = held[0], lent[1] = held[1];
        lent[0].effective &= ~nice;
        holds = syscall(SYS_capset, &header, lent) == 0;
    }
    const int code = avcodec_open2(context, codec, options);
    if (holds) syscall(SYS_capset, &header, held);
    return code;
}

/// Makes every pixel of a picture black.
static inline int reel_frame_fill_black(AVFrame *frame, enum AVColorRange range) {
    const ptrdiff_t lines[4] = {frame->linesize[0], frame->linesize[1], frame->linesize[2], frame->linesize[3]};
    return av_image_fill_black(frame->data, lines, frame->format, range, frame->width, frame->height);
}

static const int reel_crop_unaligned = AV_FRAME_CROP_UNALIGNED;

static inline int reel_frame_is_interlaced(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_INTERLACED
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame;
#endif
}

static inline int reel_frame_top_field_first(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_TOP_FIELD_FIRST
    return (frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
    return frame->top_field_first;
#endif
}

static inline void reel_frame_set_fields(AVFrame *frame, int interlaced, int top_first) {
#ifdef AV_FRAME_FLAG_INTERLACED
    frame->flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
    if (interlaced) frame->flags |= AV_FRAME_FLAG_INTERLACED;
    if (top_first) frame->flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
    frame->interlaced_frame = interlaced;
    frame->top_field_first = top_first;
#endif
}

/// Side data of a stream by kind; NULL if there is none. size may be NULL.
static inline const uint8_t *reel_stream_side_data(const AVStream *stream, enum AVPacketSideDataType kind, size_t *size) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
    const AVPacketSideData *found = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, kind);
    if (size) *size = found ? found->size : 0;
    return found ? found->data : NULL;
#else
    return av_stream_get_side_data(stream, kind, size);
#endif
}

/// Allocates `size` bytes for side data of a stream that a muxer will write; NULL if there is not enough memory.
static inline uint8_t *reel_stream_new_side_data(AVStream *stream, enum AVPacketSideDataType kind, size_t size) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
    AVPacketSideData *made = av_packet_side_data_new(
        &stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, kind, size, 0);
    return made ? made->data : NULL;
#else
    return av_stream_new_side_data(stream, kind, size);
#endif
}

/// Limits the number of heaps, which threads then share: each heap reserves 64 MiB of addresses, and addresses are
/// limited. Also has heaps keep freed memory, since the blocks of one decode window are freed and then allocated for
/// the next, and the kernel clears each page that it gives again.
static inline void reel_set_heaps(void) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    // Setting one threshold stops glibc from adapting both. glibc takes no blocks above half a heap from heaps.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

/// Keeps blocks above this size out of heaps, as far as glibc lets that be set. In heaps, large blocks of many sizes leave
/// gaps that fit none of them.
static inline void reel_set_largest_in_heaps(size_t size) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, (int)(size < 32 << 20 ? size : 32 << 20));
#endif
}

/// Has every block of memory that is allocated from now on begin cleared, so that a decoder that reads memory before it
/// writes it reads the same each time.
static inline void reel_clear_memory(void) {
#ifdef __GLIBC__
    // glibc fills with the complement.
    mallopt(M_PERTURB, 0xff);
#endif
}

/// Sets the default stack of new threads to 1 MiB instead of 8: an encoder may have hundreds of threads, and addresses
/// are limited. Codecs also run on platforms with stacks of half that size.
static inline void reel_set_stacks(void) {
#ifdef __GLIBC__
    // glibc declares it for _GNU_SOURCE only.
    extern int pthread_setattr_default_np(const pthread_attr_t *attributes);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    if (pthread_attr_setstacksize(&attributes, 1 << 20) == 0) pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
#endif
}

/// Returns freed memory that heaps have kept to the kernel.
static inline void reel_empty_heaps(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/// Has the kernel begin to write a part of a file to the disk, without waiting until it is written.
static inline void reel_begin_writing(int descriptor, int64_t start, int64_t length) {
    // Not sync_file_range(), which glibc declares for _GNU_SOURCE only. 2 is SYNC_FILE_RANGE_WRITE. On other systems
    // everything is written by the last sync.
#if defined(SYS_sync_file_range) && __SIZEOF_POINTER__ == 8
    syscall(SYS_sync_file_range, descriptor, start, length, 2u);
#else
    (void)descriptor, (void)start, (void)length;
#endif
}

/// Has the file system reserve room for a part of a file without making the file longer. It is an optimisation, so
/// errors are ignored.
static inline void reel_reserve_room(int descriptor, int64_t start, int64_t length) {
    // Not fallocate(), which glibc declares for _GNU_SOURCE only. 1 is FALLOC_FL_KEEP_SIZE.
#if defined(SYS_fallocate) && __SIZEOF_POINTER__ == 8
    syscall(SYS_fallocate, descriptor, 1, start, length);
#else
    (void)descriptor, (void)start, (void)length;
#endif
}

/// Bytes that libavformat writes go to `write`. Its buffer is const since libavformat 61.
static inline AVIOContext *reel_alloc_writer(
    unsigned char *buffer, int size, int (*write)(void *, const uint8_t *, int),
    int64_t (*seek)(void *, int64_t, int)) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    return avio_alloc_context(buffer, size, 1, NULL, NULL, write, seek);
#else
    return avio_alloc_context(buffer, size, 1, NULL, NULL, (int (*)(void *, uint8_t *, int))write, seek);
#endif
}

/// Has a packet carry a number through the decoder, besides its times, so that each frame tells which packet it comes
/// from.
static inline void reel_packet_carry(AVPacket *packet, int64_t number) {
#if LIBAVCODEC_VERSION_MAJOR < 62
    packet->pos = number;
#else
    packet->opaque = (void *)(intptr_t)(number + 1);
#endif
}

/// Prepares a decoder whose packets carry numbers. Call it before the decoder is opened.
static inline void reel_decoder_carries(AVCodecContext *decoder) {
#if LIBAVCODEC_VERSION_MAJOR >= 62
    decoder->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
#else
    (void)decoder;
#endif
}

/// The number that the frame's packet carried; below zero if the decoder has lost it.
static inline int64_t reel_frame_carried(const AVFrame *frame) {
#if LIBAVCODEC_VERSION_MAJOR < 62
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return frame->pkt_pos;
#pragma GCC diagnostic pop
#else
    return (int64_t)(intptr_t)frame->opaque - 1;
#endif
}

/// Reads one component of one pixel, as it is stored.
static inline void reel_read_sample(
    const AVFrame *frame, const AVPixFmtDescriptor *format, int x, int y, int component, uint32_t *sample) {
    const uint8_t *planes[4] = {frame->data[0], frame->data[1], frame->data[2], frame->data[3]};
    int sizes[4] = {frame->linesize[0], frame->linesize[1], frame->linesize[2], frame->linesize[3]};
    av_read_image_line2(sample, planes, sizes, format, x, y, component, 1, 0, 4);
}

#endif
