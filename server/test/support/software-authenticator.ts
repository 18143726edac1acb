import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { makerKey, makerLeaf } from './attestation-certificates.ts'
import { type Cbor, cborOf } from './cbor.ts'

/** The parts of an answer that a test may bend. */
export type Bent = {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  flags?: number
  counter?: number
  fmt?: string
  attStmt?: ReadonlyMap<string, Cbor>
  /** Signs with another key than the one that was registered. */
  stranger?: boolean
  transports?: unknown
  /** Attests as the authenticator of a maker, by the maker's certificates. */
  attests?: boolean
}

/** The answer of a browser, as `PublicKeyCredential.toJSON()` returns it. */
export type BrowserAnswer = {
  id: string
  rawId: string
  type: string
  clientExtensionResults: object
  response: Record<string, unknown>
}

type Options = Record<string, unknown>

const flag = { userPresent: 0x01, userVerified: 0x04, syncable: 0x08, synced: 0x10, hasKey: 0x40 }

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

/**
 * A passkey in software (ES256, attestation `none`), and the browser in front of it at `origin`.
 * @param counts whether it counts its signatures, as keys of hardware do; passkeys that are synced do not
 */
export function softwareAuthenticator(origin: string, { counts = true, idBytes = 32 } = {}) {
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credentialId = randomBytes(idBytes)
  const id = credentialId.toString('base64url')
  const rpId = new URL(origin).hostname
  let counter = 0

  const flags = () => flag.userPresent | flag.userVerified | (counts ? 0 : flag.syncable | flag.synced)
  const clientData = (type: string, options: Options, bent: Bent) =>
    Buffer.from(
      JSON.stringify({
        type: bent.type ?? type,
        challenge: bent.challenge ?? options.challenge,
        origin: bent.origin ?? origin,
        crossOrigin: false,
      }),
    )
  const authData = (bent: Bent, more = Buffer.alloc(0)) => {
    if (counts) counter += 1
    const count = Buffer.alloc(4)
    count.writeUInt32BE(bent.counter ?? counter)
    const bits = Buffer.from([bent.flags ?? flags() | (more.length > 0 ? flag.hasKey : 0)])
    return Buffer.concat([sha256(bent.rpId ?? rpId), bits, count, more])
  }
  const answer = (response: Record<string, unknown>): BrowserAnswer => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response,
  })

  return {
    id,
    /** What a browser answers to the options that make a passkey. */
    create(options: Options, bent: Bent = {}): BrowserAnswer {
      const { x = '', y = '' } = key.publicKey.export({ format: 'jwk' })
      const [at, on] = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
      // biome-ignore format: one pair for each member of a COSE key
      const cose = new Map<number, Cbor>([[1, 2], [3, -7], [-1, 1], [-2, at], [-3, on]])
      const length = Buffer.from([credentialId.length >> 8, credentialId.length & 0xff])
      const made = Buffer.concat([Buffer.alloc(16), length, credentialId, cborOf(cose)])
      const [client, data] = [clientData('webauthn.create', options, bent), authData(bent, made)]
      const attestation = new Map<string, Cbor>([
        ['fmt', bent.fmt ?? (bent.attests === true ? 'packed' : 'none')],
        ['attStmt', bent.attests === true ? attested(data, client) : (bent.attStmt ?? new Map())],
        ['authData', data],
      ])
      return answer({
        clientDataJSON: client.toString('base64url'),
        attestationObject: cborOf(attestation).toString('base64url'),
        transports: 'transports' in bent ? bent.transports : ['internal'],
      })
    },
    /** What a browser answers to the options that ask for a signature. */
    sign(options: Options, bent: Bent = {}): BrowserAnswer {
      const client = clientData('webauthn.get', options, bent)
      const data = authData(bent)
      const by = bent.stranger === true ? stranger : key
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), by.privateKey)
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: null,
      })
    },
  }
}

/** The statement of a maker's authenticator: its signature, and the certificates for its key. */
function attested(data: Buffer, client: Buffer): ReadonlyMap<string, Cbor> {
  const key = createPrivateKey({ key: Buffer.from(makerKey, 'base64'), format: 'der', type: 'pkcs8' })
  return new Map<string, Cbor>([
    ['alg', -7],
    ['sig', sign('sha256', Buffer.concat([data, sha256(client)]), key)],
    ['x5c', [Buffer.from(makerLeaf, 'base64')]],
  ])
}

export type SoftwareAuthenticator = ReturnType<typeof softwareAuthenticator>
