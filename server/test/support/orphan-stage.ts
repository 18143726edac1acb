import { historyStage, type Requester, type Site } from './history-stage.ts'

type Orphan = { id: string; origin: string; status: string; target_key: string; exclusive: boolean }

export async function given(site: Site, known?: Requester) {
  const person = known ?? (await site.person())
  return { email: person.email, person, grant: await site.active(await site.ask(person)) }
}

/** A service that loses grants at the target, and the service that is restored without them. Call `close` after the test. */
export async function orphanStage<Target extends Parameters<typeof historyStage>[0]>(target: Target) {
  const on = await historyStage(target)
  const path = `/v1/provisioners/${on.tenant.provisioner_id}/orphans`
  return {
    ...on,
    holders: on.target.holders,
    /** The original loses these grants: it ends, and is restored from a backup that was made before them. */
    async losing<Lost>(lose: () => Promise<Lost>): Promise<{ lost: Lost; restored: Site }> {
      const file = await on.backUp(on.original)
      const lost = await lose()
      await on.original.house.app.stop()
      return { lost, restored: await on.restored(file) }
    },
    orphansOf: async (site: Site) => (await site.get(path)).data as Orphan[],
    end: (site: Site, orphan_id: string) => site.call('POST', `${path}/${orphan_id}/end`, {}),
    close: on.end,
  }
}
