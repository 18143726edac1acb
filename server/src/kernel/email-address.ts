// A dot-atom and a host of at least two labels, in the letters, marks and digits of any script. No quoted parts, comments,
// display names or lists, nothing that a mail header could be split by; no `=?` before the host either, since some readers
// of mail decode an encoded word even inside an address and then see another one.
const atom = String.raw`[\p{L}\p{M}\p{Nd}!#$%&'*+/=?^_\x60{|}~-]+`
const label = String.raw`[\p{L}\p{M}\p{Nd}](?:[\p{L}\p{M}\p{Nd}-]{0,61}[\p{L}\p{M}\p{Nd}])?`
const emailForm = new RegExp(
  String.raw`^(?=[^@]{1,64}@)(?![^@]*=\?)${atom}(?:\.${atom})*@(?:${label}\.)+${label}$`,
  'u',
)
const maxEmailLength = 254

/** The address as it is stored (NFC), or undefined if the text is not exactly one e-mail address. */
export function readEmail(text: string): string | undefined {
  if (text.length > maxEmailLength) return undefined
  const email = text.normalize('NFC')
  return emailForm.test(email) && emailForm.test(emailKey(email)) ? email : undefined
}

/**
 * The address as it is compared: NFKC, and folded by way of upper case, so that `ß` equals `ss`, and a dotless or a dotted `i`
 * equals `i`. Two addresses with the same key belong to the same person.
 */
export function emailKey(email: string): string {
  const folded = email.normalize('NFKC').toUpperCase().toLowerCase()
  return folded.replaceAll('i\u0307', 'i').normalize('NFKC')
}
