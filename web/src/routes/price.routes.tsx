import { attempt } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { packageAddress } from '../components/package-address.ts'
import { priceRequest } from '../pages/market/price-form.tsx'
import { PricePage, type PriceView } from '../pages/market/price-page.tsx'
import { packagePath } from '../pages/package/read-package.ts'

export const priceRoutes = [
  route('get', '/packages/:scope/:name/price', { access: 'owner' }, async (visit) =>
    visit.page(<PricePage view={await readPrices(visit)} values={null} />, frame),
  ),

  route('post', '/packages/:scope/:name/price', { access: 'owner' }, async (visit) => {
    const { form } = visit
    const path = packagePath(visit)
    const view = await readPrices(visit)
    const failure = await attempt(() =>
      visit.api.PUT('/v1/packages/{scope}/{name}/price', {
        params: { path },
        body: priceRequest(form, view, view.prices.current.currency),
      }),
    )
    if (failure === null) return visit.redirect(`${packageAddress(`${path.scope}/${path.name}`)}/price`)
    return visit.page(<PricePage view={view} values={form} failure={failure} />, { ...frame, status: failure.status })
  }),
]

const frame = { title: 'Price', hidden: true }

async function readPrices(visit: Visit): Promise<PriceView> {
  const params = { path: packagePath(visit) }
  const [prices, page] = await Promise.all([
    visit.api.GET('/v1/packages/{scope}/{name}/price', { params }),
    visit.api.GET('/v1/packages/{scope}/{name}', { params }),
  ])
  return { prices: prices.data, kind: page.data.kind }
}
