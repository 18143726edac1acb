import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'

/** The one place that speaks WebAuthn. The library takes 30 MB and an eighth of a second, so it is loaded when it is first needed. */
const library = () => import('@simplewebauthn/server')
const helpers = () => import('@simplewebauthn/server/helpers')

export type PasskeyCreation = PublicKeyCredentialCreationOptionsJSON
export type PasskeyRequest = PublicKeyCredentialRequestOptionsJSON

/** A passkey that was confirmed. `synced`: it is copied among the devices of its user. */
export type Passkey = {
  credential_id: string
  public_key: Buffer
  sign_count: number
  synced: boolean
  transports: string[]
}

/** The longest name that WebAuthn lets an authenticator give a passkey. An index of the database takes no longer ones than 2,700. */
const maxIdBytes = 1_023
const maxTransports = 10

/** Those of today are `usb`, `nfc`, `ble`, `smart-card`, `hybrid` and `internal`. The library checks nothing here. */
const isTransport = (one: unknown): boolean => typeof one === 'string' && /^[a-z-]{1,20}$/.test(one)

/** The site that passkeys belong to. */
type Site = { id: string; origin: string }

/**
 * The site of the service; undefined for one that browsers make no passkeys for: an address without a name, or without https.
 * @param publicUrl of the service
 */
export function passkeySite(publicUrl: string): Site | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  const isNamed = /[a-z]/i.test(hostname) && !hostname.startsWith('[')
  return isNamed && (protocol === 'https:' || isLocal) ? { id: hostname, origin } : undefined
}

/** What the browser is asked to make a passkey with; it contains the challenge. */
export async function askForPasskey(
  site: Site,
  user: { id: string; email: string; name: string },
  known: readonly Pick<Passkey, 'credential_id'>[],
): Promise<PasskeyCreation> {
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: 'Sallyport',
    rpID: site.id,
    userID: new TextEncoder().encode(user.id),
    userName: user.email,
    userDisplayName: user.name,
    attestationType: 'none',
    excludeCredentials: known.map(({ credential_id }) => ({ id: credential_id })),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
  })
}

/** The passkey that a browser made; undefined if its answer is not valid for this challenge at this site. */
export async function readNewPasskey(site: Site, challenge: string, answer: object): Promise<Passkey | undefined> {
  const response = answer as RegistrationResponseJSON
  try {
    if (await hasCertificates(response)) return undefined
    const { verifyRegistrationResponse } = await library()
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: false,
    })
    if (!verified) return undefined
    const { credential, credentialDeviceType } = registrationInfo
    if (Buffer.from(credential.id, 'base64url').length > maxIdBytes) return undefined
    return {
      credential_id: credential.id,
      public_key: Buffer.from(credential.publicKey),
      sign_count: credential.counter,
      synced: credentialDeviceType === 'multiDevice',
      transports: (credential.transports ?? []).filter(isTransport).slice(0, maxTransports),
    }
  } catch {
    // The library throws for whatever is wrong with the answer, which is the caller's.
    return undefined
  }
}

/**
 * INVARIANT: no certificates of the caller reach the library, which would call the addresses in them to ask whether they are revoked.
 * Sallyport asks for no attestation, so a browser sends none.
 */
async function hasCertificates({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await helpers()
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject))
  const format = attestation.get('fmt')
  return format !== 'none' && !(format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)
}

/** What the browser is asked to sign with one of these passkeys; it contains the challenge. */
export async function askForSignature(
  site: Site,
  passkeys: readonly Pick<Passkey, 'credential_id' | 'transports'>[],
): Promise<PasskeyRequest> {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID: site.id,
    allowCredentials: passkeys.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
    userVerification: 'preferred',
  })
}

/** The new count of signatures of the passkey; undefined if the signature is not valid for this challenge at this site. */
export async function checkSignature(
  site: Site,
  challenge: string,
  { credential_id, public_key, sign_count, transports }: Passkey,
  answer: object,
): Promise<number | undefined> {
  try {
    const { verifyAuthenticationResponse } = await library()
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: answer as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: false,
      credential: { id: credential_id, publicKey: new Uint8Array(public_key), counter: sign_count, transports },
    })
    return verified ? authenticationInfo.newCounter : undefined
  } catch {
    return undefined
  }
}
