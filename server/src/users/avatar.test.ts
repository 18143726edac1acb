import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { avatarFault } from './avatar.ts'

const uri = (kind: string, bytes: Buffer | string) =>
  `data:image/${kind};base64,${Buffer.from(bytes as string, 'latin1').toString('base64')}`

const two = (number: number) => String.fromCharCode((number >> 8) & 255, number & 255)
const four = (number: number) => two(number >>> 16) + two(number)
const little = (number: number, bytes: number) =>
  Array.from({ length: bytes }, (_, index) => String.fromCharCode(Math.floor(number / 256 ** index) & 255)).join('')

const png = (width: number, height: number) => `\x89PNG\r\n\x1a\n${four(13)}IHDR${four(width)}${four(height)}rest`
/** With an application segment before the frame, as cameras write it. */
const jpeg = (width: number, height: number, frame = '\xc0') =>
  `\xff\xd8\xff\xe0${two(6)}JFIF\xff\xff${frame}${two(11)}\x08${two(height)}${two(width)}rest`
const riff = (chunk: string) => `RIFF${little(chunk.length + 4, 4)}WEBP${chunk}`
const webp = {
  lossy: (width: number, height: number) =>
    riff(`VP8 ${little(20, 4)}\x00\x00\x00\x9d\x01\x2a${little(width, 2)}${little(height, 2)}rest`),
  lossless: (width: number, height: number) =>
    riff(`VP8L${little(20, 4)}\x2f${little((height - 1) * 16384 + width - 1, 4)}resting`),
  extended: (width: number, height: number) =>
    riff(`VP8X${little(10, 4)}\x00\x00\x00\x00${little(width - 1, 3)}${little(height - 1, 3)}rest`),
}
/** One pixel, as real programs write it. */
const real = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  webp: 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
}

suite('an avatar', () => {
  const taken: Record<string, string> = {
    'png of one pixel': `data:image/png;base64,${real.png}`,
    'webp of one pixel': `data:image/webp;base64,${real.webp}`,
    'png with the maximum of pixels': uri('png', png(2048, 2048)),
    'jpeg with the maximum of pixels': uri('jpeg', jpeg(2048, 2048)),
    'progressive jpeg': uri('jpeg', jpeg(640, 480, '\xc2')),
    'webp with loss': uri('webp', webp.lossy(2048, 2048)),
    'webp without loss': uri('webp', webp.lossless(2048, 2048)),
    'extended webp': uri('webp', webp.extended(2048, 2048)),
    'png of the largest size': uri('png', png(9, 9).padEnd(196_608, 'x')),
  }
  for (const [name, text] of Object.entries(taken))
    test(`is accepted: ${name}`, () => assert.equal(avatarFault(text), undefined))

  const refused: [string, string, string][] = [
    ['empty text', '', 'data URI'],
    ['bare base64', real.png, 'data URI'],
    ['svg', uri('svg+xml', '<svg/>'), 'data URI'],
    ['html', 'data:text/html;base64,PGI+', 'data URI'],
    ['no data', 'data:image/png;base64,', 'base64'],
    ['letters outside base64', `${uri('png', png(1, 1))}!`, 'base64'],
    ['a line break', `${uri('png', png(1, 1))}\n`, 'base64'],
    ['a byte too many', uri('png', png(9, 9).padEnd(196_609, 'x')), 'larger than 256 KiB'],
    ['the bytes of another kind', uri('png', jpeg(1, 1)), 'not a png'],
    ['html that claims to be png', uri('png', '<html>'.repeat(9)), 'not a png'],
    ['the first bytes of png before html', uri('png', `\x89PNG\r\n\x1a\n${'<html>'.repeat(9)}`), 'not a png'],
    ['a png cut short', uri('png', png(1, 1).slice(0, 23)), 'not a png'],
    ['a png without pixels', uri('png', png(0, 1)), 'not a png'],
    ['a png too wide', uri('png', png(2049, 1)), 'is 2049 × 1 pixels: use at most 2048 × 2048'],
    ['a png that expands to terabytes', uri('png', png(0xffffffff, 0xffffffff)), 'pixels'],
    ['a jpeg too high', uri('jpeg', jpeg(1, 2049)), 'is 1 × 2049 pixels'],
    ['a progressive jpeg too high', uri('jpeg', jpeg(1, 65535, '\xc2')), 'pixels'],
    ['a jpeg without a frame', uri('jpeg', `\xff\xd8\xff\xe0${two(6)}JFIF\xff\xda${'x'.repeat(40)}`), 'not a jpeg'],
    ['a jpeg whose segment has no length', uri('jpeg', `\xff\xd8\xff\xe0${two(0)}${'x'.repeat(40)}`), 'not a jpeg'],
    ['a jpeg cut short', uri('jpeg', jpeg(1, 1).slice(0, 14)), 'not a jpeg'],
    ['a webp with loss too wide', uri('webp', webp.lossy(2049, 1)), 'pixels'],
    ['a webp without loss too high', uri('webp', webp.lossless(1, 2049)), 'is 1 × 2049 pixels'],
    ['an extended webp too wide', uri('webp', webp.extended(2049, 1)), 'is 2049 × 1 pixels'],
    ['a webp of an unknown chunk', uri('webp', riff(`ANIM${'x'.repeat(40)}`)), 'not a webp'],
    ['a webp cut short', uri('webp', webp.extended(1, 1).slice(0, 29)), 'not a webp'],
  ]
  for (const [name, text, why] of refused) {
    test(`is refused: ${name} (I10)`, () => assert.match(avatarFault(text) ?? 'taken', new RegExp(why)))
  }
})
