import { answerOf, type Schemas } from '@sallyport/client'

type Outcome<Data> = { data?: Data; error?: Schemas['Error']; response: Response }

/** A record with the tag of its version, to send back as `If-Match`. */
export type Tagged<Data> = { record: Data; tag: string | null }

/** The record that a call answers, with its tag. */
export async function withTag<Data>(call: Promise<Outcome<Data>>): Promise<Tagged<Data>> {
  const record = await answerOf(call)
  return { record, tag: (await call).response.headers.get('ETag') }
}

/** The parameters of a call that changes a record only as it was read. */
export const ifMatch = (tag: string | null) => ({ header: tag === null ? {} : { 'If-Match': tag } })
