import type { SetUpWords } from '../set-up-words.ts'

export const resources: SetUpWords['resources'] = {
  intro: 'Die Konten, auf die Zugriff beantragt wird. Regeln sagen, wer ihn bekommt.',
  none: 'Noch kein Konto. Fügen Sie das erste hinzu.',
  list: 'Konten',
  rehearsal: 'Probe',
  noEnvironment: 'keine Umgebung',
  add: 'Konto hinzufügen',
  name: 'Kontoname',
  nameHint: 'Wie man es nennt, zum Beispiel „payments-prod“.',
  nameNeeded: 'Geben Sie einen Namen ein.',
  number: 'Kontonummer',
  numberHint: '12 Ziffern. Leerzeichen stören nicht.',
  numberWrong: 'Geben Sie die 12 Ziffern des Kontos ein.',
  numberTaken: (name) => `Dieses Konto steht schon in der Liste, als „${name}“. Es wurde nichts geändert.`,
  environment: 'Umgebung',
  otherEnvironment: 'Andere',
  environmentName: 'Name der Umgebung',
  environmentHint: 'Daran unterscheiden Regeln die Konten, als Tag „env“.',
  environmentNeeded: 'Geben Sie einen Namen für die Umgebung ein.',
  send: 'Konto anlegen',
  added: (name) => `${name} ist hinzugefügt.`,
}
