import { isPasskeySite } from './factor.ts'

/** Whether a passkey can be made in this browser, at this address. */
export const canMakePasskey = (): boolean =>
  isSecureContext &&
  typeof PublicKeyCredential === 'function' &&
  'parseCreationOptionsFromJSON' in PublicKeyCredential &&
  isPasskeySite(location)

/**
 * Has the browser make a passkey.
 * @throws DOMException when the person stops, or the device has one already
 */
export async function makePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON)
  const credential = await navigator.credentials.create({ publicKey })
  if (!(credential instanceof PublicKeyCredential)) throw new Error('the browser made no passkey')
  return { ...credential.toJSON() }
}
