const number = (count: number): string => count.toLocaleString('en')
const people = (count: number): string => `${number(count)} ${count === 1 ? 'person' : 'people'}`

export const match = {
  title: 'Who would match?',
  intro:
    'Paste the list of users that you can download from your directory, or choose its file. Nobody is made by this.',
  list: 'List of users',
  hint: 'CSV with the user names, and the addresses and ids where it has them; or one address in each line.',
  file: 'Choose a file',
  see: 'See who matches',
  faults: {
    empty: 'There is nobody in this list. Paste at least one line with an address.',
    noNames: 'No column is called userName, userPrincipalName, login or email. Name the column with the user names so.',
    large: 'This is more than 50,000 people. Try a part of the list.',
  },
  progress: (done: number, total: number) => `${number(done)} of ${people(total)} so far.`,
  people: (count: number) => `${people(count)}:`,
  counts: {
    known: (count: number) => `${number(count)} known already`,
    added: (count: number) => `${number(count)} new`,
    adopted: (count: number) => `${number(count)} taken over from the sign-in`,
    to_settle: (count: number) => `${number(count)} to settle`,
    left_out: (count: number) => `${number(count)} kept apart`,
    refused: (count: number) => `${number(count)} refused`,
  },
  allFound: (target: string) => `${target} has all of them.`,
  notFound: (count: number, target: string) =>
    `${target} does not have ${people(count)} by their user name: access there would fail.`,
  exceptions: 'Who needs a look',
  kinds: {
    settle: 'A user here has the address or the name: you are asked who they are.',
    left_out: 'Kept apart from a user here.',
    missing: (targets: string) => `Not in ${targets}.`,
  },
  more: (count: number) => `And ${number(count)} more.`,
}
