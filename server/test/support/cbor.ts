/** What a CBOR text is made of here (RFC 8949): enough for the answers of an authenticator. */
export type Cbor = number | string | Buffer | null | readonly Cbor[] | ReadonlyMap<number | string, Cbor>

/** The bytes of a value in CBOR. */
export function cborOf(value: Cbor): Buffer {
  if (value === null) return Buffer.from([0xf6])
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<number | string, Cbor>)]
    return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, held]) => [cborOf(key), cborOf(held)])])
  }
  const items = value as readonly Cbor[]
  return Buffer.concat([head(4, items.length), ...items.map(cborOf)])
}

function head(major: number, length: number): Buffer {
  const kind = major << 5
  if (length < 24) return Buffer.from([kind | length])
  if (length < 0x100) return Buffer.from([kind | 24, length])
  if (length < 0x1_0000) return Buffer.from([kind | 25, length >> 8, length & 0xff])
  const bytes = Buffer.alloc(5, kind | 26)
  bytes.writeUInt32BE(length, 1)
  return bytes
}
