package spoor;

import java.util.regex.Pattern;

/** How a request is called: by its method and the beginning of its path, without what is different in each. */
final class RequestName {
    private static final Pattern NUMBER = Pattern.compile(
            "[0-9]+|[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");

    private RequestName() {
    }

    /** Of "GET", "/shop/cart/4711/items" and 3: "GET /shop/cart/*". */
    static String of(String method, String path, int segments) {
        StringBuilder name = new StringBuilder(64).append(method).append(' ');
        int count = 0;
        for (String segment : (path == null ? "" : path).split("/")) {
            int parameters = segment.indexOf(';'); // ;jsessionid=...
            String text = parameters < 0 ? segment : segment.substring(0, parameters);
            if (text.isEmpty()) {
                continue;
            }
            if (count++ == segments) {
                break;
            }
            name.append('/').append(NUMBER.matcher(text).matches() ? "*" : text);
        }
        return count == 0 ? name.append('/').toString() : name.toString();
    }
}
