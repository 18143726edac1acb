import { connectAlone } from '../../src/db/client/connect.ts'
import { newId } from '../../src/kernel/id.ts'
import type { House } from './house.ts'
import { until } from './wait.ts'

/** Listens to the notices by which the database says that rights changed, as other processes do. */
export async function listenToAuthority(house: Pick<House, 'service' | 'atEnd' | 'asSuperuser'>) {
  const listener = await connectAlone(house.service)
  const notices: string[] = []
  house.atEnd(() => listener.end())
  listener.on('notification', ({ payload = '' }) => notices.push(payload))
  await listener.query('listen sallyport_authority')

  async function untilMarked(): Promise<string> {
    const mark = newId()
    await house.asSuperuser(`select pg_notify('sallyport_authority', $1)`, [mark])
    await until('the mark has arrived', async () => notices.includes(mark))
    return mark
  }

  /**
   * The tenants that were notified while `act` ran. Notices come in the order of commits, so our own marks before and after
   * delimit them.
   */
  return async function noticesOf(act: () => Promise<unknown>): Promise<string[]> {
    await untilMarked()
    notices.length = 0
    await act()
    const mark = await untilMarked()
    return notices.slice(0, notices.indexOf(mark))
  }
}
