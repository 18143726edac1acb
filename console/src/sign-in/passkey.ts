/**
 * Has the browser sign a challenge with a passkey of the person.
 * @throws when the person stops, or the browser has none
 */
export async function signWithPasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON)
  const credential = await navigator.credentials.get({ publicKey })
  if (!(credential instanceof PublicKeyCredential)) throw new Error('the browser returned no passkey')
  return { ...credential.toJSON() }
}
