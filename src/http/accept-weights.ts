/**
 * Returns the weight of each value that an `Accept…` header lists (RFC 9110, section 12.4.2), in lower case. A value
 * without a weight has weight 1.
 */
export function acceptWeights(header = ''): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    const [value = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice('q='.length);
    weights.set(value, weight === undefined ? 1 : Number(weight) || 0);
  }
  return weights;
}
