/** A secret in groups of four, as it is typed. */
export const inFours = (secret: string): string => secret.match(/.{1,4}/g)?.join(' ') ?? ''

/** The digits of a code, however it was typed. */
export const digitsOf = (entry: string): string => entry.replaceAll(/\D/g, '')

/** Whether the link opens an authenticator app, and nothing else. */
export const isAppLink = (uri: string): boolean => uri.startsWith('otpauth://')

/** Whether browsers make passkeys at this address: one with a name, by https, or this machine itself. */
export function isPasskeySite({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean {
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  return isLocal || (protocol === 'https:' && /[a-z]/i.test(hostname) && !hostname.startsWith('['))
}
