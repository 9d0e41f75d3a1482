// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Actors} from "./Actors.sol";

/// @notice What happens around the money: time, merchants, identities, the token's issuer, the guardian.
abstract contract Surroundings is Actors {
    /// @dev A pause ends after this many further steps, or nothing else would ever happen.
    uint256 private constant LONGEST_PAUSE = 2;

    address[] private _blocked;
    uint256 private _escrowPausedFor;
    uint256 private _tokenPausedFor;

    /// @dev One move of anybody. Pauses come to an end, and what was paid out is read from the logs.
    modifier turn() {
        _endPauses();
        vm.warp(clock);
        vm.recordLogs();
        _;
        readLogs();
    }

    function passTime(uint256 seed) external turn {
        clock += roll(seed, "long", 3) == 0 ? roll(seed, "time", 80 days) : roll(seed, "time", 12 hours);
    }

    /// @dev The issuer blocks somebody; at most two at a time.
    function blockOrUnblock(uint256 seed) external turn {
        address account = anAccount(seed);
        bool unblock = _blocked.length == 2 || usdc.isBlacklisted(account);
        if (!unblock) {
            act(Action.Block, admin, address(usdc), abi.encodeCall(usdc.blacklist, (account)), true);
            _blocked.push(account);
            return;
        }
        while (_blocked.length != 0) {
            account = _blocked[_blocked.length - 1];
            act(Action.Unblock, admin, address(usdc), abi.encodeCall(usdc.unBlacklist, (account)), true);
            _blocked.pop();
        }
    }

    function pauseEscrow(uint256 seed) external turn {
        if (roll(seed, "rarely", 2) == 0) return;
        act(Action.PauseEscrow, guardian, address(escrow), abi.encodeCall(escrow.pause, ()), !escrow.paused());
    }

    function pauseToken(uint256 seed) external turn {
        if (roll(seed, "rarely", 2) == 0) return;
        act(Action.PauseToken, admin, address(usdc), abi.encodeCall(usdc.pause, ()), true);
    }

    function runMerchant(uint256 seed) external turn {
        uint256 id = merchantIds[roll(seed, "merchant", 3)];
        address owner = identities.ownerOf(id);
        Shop storage shop = shops[id];
        uint256 what = roll(seed, "what", 15);
        if (what < 8) {
            bool active = what != 0;
            Action action = active ? Action.OpenMerchant : Action.CloseMerchant;
            act(action, owner, address(merchants), abi.encodeCall(merchants.setActive, (id, active)), true);
            _adopt(shop, owner);
            shop.active = active;
        } else if (what < 10) {
            bool suspended = !shop.suspended && what == 8;
            bytes memory data = abi.encodeCall(merchants.setSuspended, (id, suspended));
            act(Action.Suspend, guardian, address(merchants), data, true);
            shop.suspended = suspended;
        } else if (what == 10) {
            address next = owners[roll(seed, "owner", 3)].addr;
            bytes memory data = abi.encodeCall(identities.transferFrom, (owner, next, id));
            act(Action.TransferMerchant, owner, address(identities), data, true);
        } else if (what == 11) {
            // Even the contracts themselves: the money must then be nobody's, not somebody else's.
            uint256 where = roll(seed, "where", 6);
            address payout = where == 0 ? address(router) : where == 1 ? address(escrow) : anAccount(seed);
            bytes memory data = abi.encodeCall(merchants.setPayoutWallet, (id, payout));
            act(Action.SetPayout, owner, address(merchants), data, true);
            _adopt(shop, owner);
            shop.payout = payout;
        } else {
            bytes32 productId = roll(seed, "product", 2) == 0 ? PRODUCT : OTHER_PRODUCT;
            bytes memory data = what == 12
                ? abi.encodeCall(merchants.setProductTerms, (id, productId, uint16(roll(seed, "rate", 10_001)), 0))
                : abi.encodeCall(merchants.setProductActive, (id, productId, what == 13 || roll(seed, "on", 3) != 0));
            act(Action.SetProduct, owner, address(merchants), data, true);
        }
    }

    /// @dev A reviewer's identity is sold, or its wallet set or cleared.
    function moveReviewer(uint256 seed) external turn {
        uint256 agentId = reviewerAgents[roll(seed, "reviewer", 2)];
        address owner = identities.ownerOf(agentId);
        uint256 what = roll(seed, "what", 3);
        bytes memory data;
        if (what == 0) {
            data = abi.encodeCall(identities.transferFrom, (owner, reviewers[roll(seed, "to", 2)].addr, agentId));
        } else if (what == 1) {
            data = abi.encodeCall(identities.unsetAgentWallet, (agentId));
        } else {
            Wallet memory wallet = makeWallet("agent wallet");
            bytes memory signature = sign(wallet, walletDigest(agentId, wallet.addr, owner, clock));
            data = abi.encodeCall(identities.setAgentWallet, (agentId, wallet.addr, clock, signature));
        }
        act(Action.MoveReviewer, owner, address(identities), data, true);
    }

    /// @dev Lifts every obstacle, so that what remains to be paid can be.
    function clearTheWay() internal {
        if (escrow.paused()) {
            vm.prank(guardian);
            escrow.unpause();
        }
        vm.startPrank(admin);
        if (usdc.paused()) usdc.unpause();
        for (uint256 i = 0; i < accounts.length; ++i) {
            if (usdc.isBlacklisted(accounts[i])) usdc.unBlacklist(accounts[i]);
        }
        vm.stopPrank();
        delete _blocked;
    }

    function _adopt(Shop storage shop, address owner) private {
        if (shop.openedBy == owner) return;
        shop.openedBy = owner;
        shop.payout = owner;
        shop.active = false;
    }

    function _endPauses() private {
        _escrowPausedFor = escrow.paused() ? _escrowPausedFor + 1 : 0;
        _tokenPausedFor = usdc.paused() ? _tokenPausedFor + 1 : 0;
        if (_escrowPausedFor > LONGEST_PAUSE) {
            vm.prank(guardian);
            escrow.unpause();
        }
        if (_tokenPausedFor > LONGEST_PAUSE) {
            vm.prank(admin);
            usdc.unpause();
        }
    }
}
