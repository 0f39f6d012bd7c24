/** Host names by RFC 1123, as `URL` normalises them: in lower case, other scripts in Punycode. */

const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
const PUBLIC_LABEL = /^[a-z0-9-]+$/;
// Names in private networks, such as those of containers, often have underscores.
const PRIVATE_LABEL = /^[a-z0-9_-]+$/;

/**
 * Returns whether a name server can be asked for the name. A public name has at least two labels and no underscore: no
 * certificate is issued for any other. A trailing dot is ignored.
 */
export function isHostName(hostname: string, { allowPrivateNames }: { allowPrivateNames: boolean }): boolean {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  if (name.length > MAX_NAME_LENGTH) return false;
  const labels = name.split('.');
  if (labels.length === 1 && !allowPrivateNames) return false;
  return labels.every((label) => isLabel(label, allowPrivateNames ? PRIVATE_LABEL : PUBLIC_LABEL));
}

const isLabel = (label: string, pattern: RegExp): boolean =>
  label.length <= MAX_LABEL_LENGTH && pattern.test(label) && !label.startsWith('-') && !label.endsWith('-');
