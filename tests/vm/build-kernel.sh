# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Builds a kernel of the list from Debian's source package and config fragments. Sourced by fetch.

# build_kernel NEW: the same folder that fetch_image makes, with the source tree, lean, as what modules are built against
build_kernel() {
    local new=$1 source release dir jobs files
    jobs=$(nproc)
    IFS=, read -ra files <<<"$FRAGMENTS"
    files=("${files[@]/#/$VM_DIR/}")
    need make flex bison bc "$COMPILER"
    say "$NAME: downloading $PACKAGE"
    download "$SUITE" "$new/debs" "$PACKAGE"
    say "$NAME: unpacking"
    unpack "$new/debs" "$new/tree" >"$new/packages"
    fragments | sha256sum | sed "s/^/$FRAGMENTS - /" >>"$new/packages"
    rm -r "$new/debs"
    dir=$new/tree/usr/src/linux
    mkdir "$dir"
    for source in "$new"/tree/usr/src/linux-source-*.tar.xz; do
        # Only what this kernel is made of; Kconfig files of everything are needed
        xz -dc -T0 "$source" | tar -x -C "$dir" --strip-components=1 --wildcards \
            --exclude='*/Documentation/*.rst' --exclude='*/Documentation/*.yaml' --exclude='*/arch/[a-tv-wyz]*/*.[chS]' \
            --exclude='*/arch/[a-tv-wyz]*/*.dts*' --exclude='*/sound/*.[ch]' \
            --exclude='*/drivers/gpu/*.[ch]' --exclude='*/drivers/media/*.[ch]' --exclude='*/drivers/net/*/*.[ch]' \
            --exclude='*/drivers/staging/*.[ch]' --exclude='*/tools/testing' --exclude='*/tools/perf'
        rm "$source"
    done
    rm -rf "$new"/tree/usr/src/linux-source-* "$new"/tree/usr/src/linux-config-* "$new"/tree/usr/src/linux-patch-*
    say "$NAME: configuring"
    {
        make -C "$dir" CC="$COMPILER" tinyconfig
        (cd "$dir" && KCONFIG_CONFIG=.config CC="$COMPILER" ./scripts/kconfig/merge_config.sh -m .config "${files[@]}")
        make -C "$dir" CC="$COMPILER" olddefconfig
    } >"$new/build.log" 2>&1 || build_failed "$new" configure
    check_config "$dir/.config"
    say "$NAME: compiling; minutes the first time, never again ($jobs at once, log: $new/build.log)"
    # SOURCE_DATE_EPOCH and the like: the same sources make the same kernel
    make -C "$dir" CC="$COMPILER" KBUILD_BUILD_USER=lattop KBUILD_BUILD_HOST=lattop -j"$jobs" vmlinux bzImage modules \
        >>"$new/build.log" 2>&1 || build_failed "$new" compile
    release=$(cat "$dir/include/config/kernel.release")
    make -C "$dir" CC="$COMPILER" INSTALL_MOD_PATH="$new/tree/usr" DEPMOD=: modules_install >>"$new/build.log" 2>&1 ||
        build_failed "$new" install
    rm -f "$new/tree/usr/lib/modules/$release"/{build,source}
    depmod -b "$new/tree" "$release"
    mkdir -p "$new/tree/boot"
    cp "$dir/arch/x86/boot/bzImage" "$new/tree/boot/vmlinuz-$release"
    # What building a module needs stays: headers, scripts, objtool, Module.symvers
    find "$dir" \( -path "$dir/scripts" -o -path "$dir/tools" \) -prune -o \
        -type f \( -name '*.[coSa]' -o -name '*.cmd' -o -name 'vmlinux*' -o -name 'bzImage' \) -print0 | xargs -0 rm -f
    write_env "$new" "$release" "$(kernel_dir "$NAME")/tree/usr/src/linux"
}

build_failed() {
    grep -E 'error|Error|undefined' "$1/build.log" | tail -n 20 >&2 || :
    die "$NAME: could not $2 it" "the whole log: $1/build.log"
}

# An option that another one forbids is dropped silently by kconfig: say so
check_config() {
    local line dropped=()
    while read -r line; do
        case $line in
            *=n) ! grep -q "^${line%=n}=" "$1" || dropped+=("$line") ;;
            *) grep -qxF -- "$line" "$1" || dropped+=("$line") ;;
        esac
    done < <(fragments | awk -F= '/^CONFIG_/ { last[$1] = $0 } END { for (name in last) print last[name] }')
    [ ${#dropped[@]} -eq 0 ] || die "$NAME: kconfig did not take: ${dropped[*]}" "see ${FRAGMENTS//,/ } in tests/vm"
}
