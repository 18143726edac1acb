import { createHmac } from 'node:crypto'

/** The code of an app (RFC 6238): an implementation of the tests' own, beside the library that the service uses. */
export function codeAt(secret: string, now: Date, algorithm = 'sha1'): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(now.getTime() / 30_000)))
  const mac = createHmac(algorithm, bytesOf(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0x0f
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0')
}

/** The codes that an app with this secret shows, now and some periods of 30 seconds from now. */
export function totpApp(secret: string) {
  const code = (periods = 0) => codeAt(secret, new Date(Date.now() + periods * 30_000))
  return {
    code,
    /** Six digits that are right at no moment near this one. */
    wrong(nth = 0): string {
      const near = new Set([-3, -2, -1, 0, 1, 2, 3].map(code))
      const others = Array.from({ length: 20 }, (_, n) =>
        String(n * 50_021)
          .padStart(6, '0')
          .slice(0, 6),
      )
      return others.filter((digits) => !near.has(digits))[nth] ?? '000000'
    },
  }
}

export type TotpApp = ReturnType<typeof totpApp>

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function bytesOf(base32: string): Buffer {
  const bits = [...base32].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
