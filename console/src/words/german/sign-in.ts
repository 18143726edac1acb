import type { Words } from '../words.ts'

export const signIn: Words['signIn'] = {
  title: 'Anmelden',
  email: 'E-Mail-Adresse',
  passphrase: 'Passphrase',
  organization: 'Organisation',
  organizationHint: 'Ihr Kurzname oder ihre Kennung. Lassen Sie das Feld leer, wenn Ihre E-Mail-Adresse sie nennt.',
  next: 'Weiter',
  signIn: 'Anmelden',
  back: 'Zurück',
  provider: 'Beim Anbieter anmelden',
  wrong: 'Die E-Mail-Adresse, die Passphrase oder die Organisation ist falsch.',
  needsEmail: 'Geben Sie Ihre E-Mail-Adresse ein, zum Beispiel ada@example.com.',
  needsPassphrase: 'Geben Sie Ihre Passphrase ein.',
  needsOrganization: 'Geben Sie einen Kurznamen aus Buchstaben, Ziffern und Bindestrichen ein, oder die Kennung.',
  over: 'Ihre Sitzung ist beendet. Melden Sie sich an, um fortzufahren.',
  secondTitle: 'Bestätigen Sie, dass Sie es sind',
  code: 'Code aus Ihrer Authenticator-App',
  codeHint: 'Sechs Ziffern, alle 30 Sekunden neu.',
  recovery: 'Wiederherstellungscode',
  recoveryHint: 'Jeder Code gilt einmal.',
  usePasskey: 'Passkey verwenden',
  useCode: 'Authenticator-App verwenden',
  useRecovery: 'Wiederherstellungscode verwenden',
  confirm: 'Bestätigen',
  codeWrong: 'Dieser Code wird nicht angenommen. Geben Sie den neuesten ein.',
  passkeyFailed: 'Der Passkey wurde nicht verwendet. Versuchen Sie es erneut, oder wählen Sie einen anderen Weg.',
  challengeOver: 'Das hat zu lange gedauert. Melden Sie sich erneut an.',
  providerRefused:
    'Ihr Anbieter hat Sie nicht angemeldet. Versuchen Sie es noch einmal. Bleibt es dabei, fragen Sie Ihre Administration, ob die Anmeldeeinstellungen diese Adresse nennen.',
  providerNotSet:
    'Ihre Organisation hat keinen Anbieter, der hierher zurückführt. Melden Sie sich mit Ihrer Passphrase an, oder fragen Sie Ihre Administration.',
}
