/** Logins that are made for access. */
export const logins = {
  get: 'Get a password',
  title: (login: string) => `The password of ${login}`,
  once: 'It is shown only here, and works until the access ends. Another one ends it.',
  copy: 'Copy the password',
  close: 'I have it',
}
