import { readNumber } from '../resources/account.ts'

/** What a person answers to connect AWS. */
export type Answers = { region: string; account: string }

/** The regions that are offered. Any other can be typed: AWS opens new ones. */
export const regions = [
  ...['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'ca-central-1', 'ca-west-1', 'mx-central-1', 'sa-east-1'],
  ...['eu-central-1', 'eu-central-2', 'eu-north-1', 'eu-south-1', 'eu-south-2', 'eu-west-1', 'eu-west-2', 'eu-west-3'],
  ...['ap-east-1', 'ap-northeast-1', 'ap-northeast-2', 'ap-northeast-3', 'ap-south-1', 'ap-south-2'],
  ...['ap-southeast-1', 'ap-southeast-2', 'ap-southeast-3', 'ap-southeast-4', 'ap-southeast-5', 'ap-southeast-7'],
  ...['af-south-1', 'il-central-1', 'me-central-1', 'me-south-1', 'us-gov-east-1', 'us-gov-west-1'],
  ...['cn-north-1', 'cn-northwest-1'],
] as const

const regionForm = /^[a-z]{2,3}(?:-[a-z]+){1,3}-\d{1,2}$/

/** The region of an answer, in whatever case; undefined for what is none. */
export function readRegion(text: string): string | undefined {
  const region = text.trim().toLowerCase()
  return regionForm.test(region) ? region : undefined
}

/** The config of the connection; undefined where an answer is missing or wrong. */
export function configOf({ region, account }: Answers): { region: string; account_id: string } | undefined {
  const [named, account_id] = [readRegion(region), readNumber(account)]
  return named === undefined || account_id === undefined ? undefined : { region: named, account_id }
}
