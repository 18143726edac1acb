import type { OwnSetUpWords } from '../set-up-words.ts'

export const logins: OwnSetUpWords['logins'] = {
  get: 'Passwort holen',
  title: (login) => `Das Passwort von ${login}`,
  once: 'Es steht nur hier und gilt, bis der Zugriff endet. Ein weiteres beendet es.',
  copy: 'Passwort kopieren',
  close: 'Ich habe es',
}
