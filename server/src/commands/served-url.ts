import type { Config } from '../config/config.ts'
import type { Database } from '../db/transaction.ts'
import { findServedUrl } from '../health/presence.ts'

/**
 * The address of the service, for what a command writes. Where the environment says nothing of it, it is that of the running service:
 * the command, in another terminal, does not know the port that the service was given.
 */
export async function urlToWrite(
  database: Database,
  { public_url, is_usual_url }: Pick<Config, 'public_url' | 'is_usual_url'>,
): Promise<string> {
  return (is_usual_url ? await findServedUrl(database) : undefined) ?? public_url
}
