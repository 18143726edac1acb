import { Type } from 'typebox'
import { Documented } from '../http/schema.ts'

const maxDataLength = 256 * 1024
/** The body of an operation that takes an avatar: one that is too large is a faulty field, not a body that nobody reads. */
export const avatarBody = { bodyLimit: 4 * 1024 * 1024, bodyValues: 1_000 }
/** The maximum side, in pixels. Decoded, the largest image takes 16 MiB. */
const maxSidePixels = 2_048

const uriForm = /^data:image\/(png|jpeg|webp);base64,/

/** An avatar that a caller sends. */
export const Avatar = Documented(
  Type.String({
    description:
      `a data URI: png, jpeg or webp in padded base64 of at most ${maxDataLength / 1024} KiB; the image has at most ` +
      `${maxSidePixels} pixels a side`,
  }),
  { maxLength: 'data:image/jpeg;base64,'.length + maxDataLength, pattern: uriForm.source },
)

type Size = { width: number; height: number }

/**
 * Returns the fault of an avatar as a half-sentence; undefined for a valid one: a data URI with at most 256 KiB of base64,
 * whose bytes are an image of the claimed kind that does not decode into a huge one.
 */
export function avatarFault(text: string): string | undefined {
  const [prefix = '', kind] = uriForm.exec(text.slice(0, 40)) ?? []
  if (kind === undefined) {
    return 'must be a data URI that begins data:image/png;base64, or the same with jpeg or webp'
  }
  const data = text.slice(prefix.length)
  if (data.length > maxDataLength) return `is larger than ${maxDataLength / 1024} KiB: use a smaller image`
  const bytes = Buffer.from(data, 'base64')
  if (bytes.length === 0 || bytes.toString('base64') !== data) return 'must be in base64, padded, without line breaks'
  const size = sizeOf[kind as keyof typeof sizeOf](bytes)
  if (size === undefined || size.width === 0 || size.height === 0) return `is not a ${kind} image`
  if (size.width <= maxSidePixels && size.height <= maxSidePixels) return undefined
  return `is ${size.width} × ${size.height} pixels: use at most ${maxSidePixels} × ${maxSidePixels}`
}

/**
 * Reads an image's size from its first bytes and its header, whatever the data URI claims. Undefined when the bytes are not
 * an image of the kind.
 */
const sizeOf = {
  png(bytes: Buffer): Size | undefined {
    if (bytes.length < 24 || text(bytes, 0, 8) !== '\x89PNG\r\n\x1a\n' || text(bytes, 12, 16) !== 'IHDR') {
      return undefined
    }
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  },
  /** Walks the segments by their lengths until the one that begins a frame. */
  jpeg(bytes: Buffer): Size | undefined {
    if (text(bytes, 0, 3) !== '\xff\xd8\xff') return undefined
    let at = 2
    while (at + 9 <= bytes.length && bytes[at] === 0xff) {
      const marker = bytes.readUInt8(at + 1)
      if (marker === 0xff) at += 1
      else if (beginsFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
      else if (hasNoLength(marker)) return undefined
      else at += 2 + bytes.readUInt16BE(at + 2)
    }
    return undefined
  },
  webp(bytes: Buffer): Size | undefined {
    if (bytes.length < 30 || text(bytes, 0, 4) !== 'RIFF' || text(bytes, 8, 12) !== 'WEBP') return undefined
    switch (text(bytes, 12, 16)) {
      case 'VP8X':
        return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
      case 'VP8L':
        return bytes[20] === 0x2f ? losslessSize(bytes.readUInt32LE(21)) : undefined
      case 'VP8 ':
        if (text(bytes, 23, 26) !== '\x9d\x01\x2a') return undefined
        return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
      default:
        return undefined
    }
  },
}

/** SOF0 to SOF15, except the three numbers between them that mark tables. */
function beginsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}

/** Restarts, start, end, and the scan, after which no header follows. */
function hasNoLength(marker: number): boolean {
  return marker <= 0x01 || (marker >= 0xd0 && marker <= 0xda)
}

/** Width and height, each stored less one in fourteen bits. */
function losslessSize(bits: number): Size {
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

function text(bytes: Buffer, from: number, to: number): string {
  return bytes.subarray(from, to).toString('latin1')
}
