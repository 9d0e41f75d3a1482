// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {AddressKeys} from "../../src/libraries/AddressKeys.sol";
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
        vm.warp(clock);
        _endPauses();
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

    /// @dev The guardian pauses or resumes, also what is paused or running already.
    function pauseEscrow(uint256 seed) external turn {
        if (roll(seed, "rarely", 2) == 0) return;
        roll(seed, "resume", 4) == 0 ? resumeEscrow() : pauseEscrowNow();
    }

    function pauseToken(uint256 seed) external turn {
        if (roll(seed, "rarely", 2) == 0) return;
        act(Action.PauseToken, admin, address(usdc), abi.encodeCall(usdc.pause, ()), true);
    }

    /// @dev A successor is named, or the first escrow again: what lies in the first stays what it is.
    function replaceEscrow(uint256 seed) external turn {
        address named = roll(seed, "successor", 2) == 0 ? address(successor) : address(escrow);
        bytes memory data = abi.encodeCall(addresses.setAddress, (AddressKeys.COMMISSION_ESCROW, named));
        act(Action.ReplaceEscrow, admin, address(addresses), data, true);
    }

    function runMerchant(uint256 seed) external turn {
        uint256 id = merchantIds[roll(seed, "merchant", 3)];
        Shop storage shop = shops[id];
        uint256 what = roll(seed, "what", 20);
        if (what < 9) {
            _setActive(id, what > 1);
        } else if (what < 11) {
            bool suspended = !shop.suspended && what == 9;
            bytes memory data = abi.encodeCall(merchants.setSuspended, (id, suspended));
            act(Action.Suspend, guardian, address(merchants), data, true);
            shop.suspended = suspended;
        } else if (what == 11) {
            _transferMerchant(id, owners[roll(seed, "owner", 3)].addr);
        } else {
            _writeAsOwner(seed, id);
        }
    }

    /// @dev A merchant is sold and comes back: as it was when the owner in between did nothing, closed when it did anything at all.
    function sellAndBuyBack(uint256 seed) external turn {
        uint256 id = merchantIds[roll(seed, "merchant", 3)];
        address first = identities.ownerOf(id);
        _transferMerchant(id, owners[roll(seed, "owner", 3)].addr);
        if (roll(seed, "acts", 2) == 0) _writeAsOwner(seed, id);
        _transferMerchant(id, first);
        if (roll(seed, "opens", 3) != 0) _setActive(id, true);
    }

    /// @dev An agent is sold, or its wallet set or cleared. Reviewers' go to reviewers, buyers' to buyers; the attacker keeps its own.
    function moveAgent(uint256 seed) external turn {
        uint256 whose = roll(seed, "whose", 5);
        uint256 what = roll(seed, "what", 3);
        uint256 agentId = attackerAgent;
        Wallet memory next = attackers[0];
        Wallet memory wallet = makeWallet("agent wallet");
        if (whose < 2) {
            agentId = reviewerAgents[roll(seed, "reviewer", 2)];
            next = reviewers[roll(seed, "to", 2)];
        } else if (whose < 4) {
            agentId = buyerAgents[roll(seed, "buyer", buyerAgents.length)];
            next = buyers[roll(seed, "to", buyers.length)];
            wallet = next;
        }
        address owner = identities.ownerOf(agentId);
        bytes memory data;
        if (what == 0) {
            data = abi.encodeCall(identities.transferFrom, (owner, next.addr, agentId));
        } else if (what == 1) {
            data = abi.encodeCall(identities.unsetAgentWallet, (agentId));
        } else if (whose == 4) {
            data = abi.encodeCall(identities.setAgentWallet, (agentId, address(yesWallet), clock, "yes"));
        } else {
            bytes memory signature = sign(wallet, walletDigest(agentId, wallet.addr, owner, clock));
            data = abi.encodeCall(identities.setAgentWallet, (agentId, wallet.addr, clock, signature));
        }
        act(Action.MoveAgent, owner, address(identities), data, true);
    }

    function pauseEscrowNow() internal {
        act(Action.PauseEscrow, guardian, address(escrow), abi.encodeCall(escrow.pause, ()), !escrow.paused());
    }

    function resumeEscrow() internal {
        bytes memory data = abi.encodeCall(escrow.unpause, ());
        if (act(Action.ResumeEscrow, guardian, address(escrow), data, escrow.paused())) resumedAt = clock;
    }

    /// @dev Lifts every obstacle, so that what remains to be paid can be.
    function clearTheWay() internal {
        if (escrow.paused()) resumeEscrow();
        vm.startPrank(admin);
        if (usdc.paused()) usdc.unpause();
        for (uint256 i = 0; i < accounts.length; ++i) {
            if (usdc.isBlacklisted(accounts[i])) usdc.unBlacklist(accounts[i]);
        }
        vm.stopPrank();
        delete _blocked;
    }

    function _setActive(uint256 id, bool active) private {
        Action action = active ? Action.OpenMerchant : Action.CloseMerchant;
        _own(action, id, abi.encodeCall(merchants.setActive, (id, active)), true);
        shops[id].active = active;
    }

    function _transferMerchant(uint256 id, address next) private {
        address owner = identities.ownerOf(id);
        bytes memory data = abi.encodeCall(identities.transferFrom, (owner, next, id));
        act(Action.TransferMerchant, owner, address(identities), data, true);
    }

    /// @dev Anything that only an owner may do, but to open and to close. What is refused must leave no trace.
    function _writeAsOwner(uint256 seed, uint256 id) private {
        bytes32 productId = roll(seed, "product", 2) == 0 ? PRODUCT : OTHER_PRODUCT;
        uint256 what = roll(seed, "write", 9);
        if (what == 0) {
            _setPayout(seed, id);
        } else if (what < 4) {
            _setProductTerms(seed, id, productId);
        } else if (what < 6) {
            bool active = roll(seed, "on", 6) != 0;
            bytes memory data = abi.encodeCall(merchants.setProductActive, (id, productId, active));
            if (_own(Action.SetProductActive, id, data, true)) goods[id][productId].active = active;
        } else if (what == 6) {
            bool listed = roll(seed, "listed", 3) != 0;
            if (!listed) productId = bytes32(seed);
            _own(Action.SetProductCard, id, abi.encodeCall(merchants.setProductCard, (id, productId, "ipfs://")), listed);
        } else if (what == 7) {
            bool granted = roll(seed, "granted", 3) != 0;
            string memory signature =
                granted ? "grantRole(uint256,bytes32,address)" : "revokeRole(uint256,bytes32,address)";
            bytes memory data = abi.encodeWithSignature(signature, id, SIGNER_ROLE, stranger);
            if (_own(Action.SetMerchantRole, id, data, true)) strangerSigns[id][identities.ownerOf(id)] = granted;
        } else {
            bool listed = roll(seed, "listed", 4) == 0;
            if (!listed) productId = bytes32(seed);
            bytes memory data =
                abi.encodeCall(merchants.listProduct, (id, productId, 100, 1, MerchantRegistry.ProductType.Repeat, ""));
            _own(Action.ListProduct, id, data, !listed);
        }
    }

    /// @dev Even the contracts themselves: the money must then be nobody's, not somebody else's.
    function _setPayout(uint256 seed, uint256 id) private {
        uint256 where = roll(seed, "where", 8);
        address payout = anAccount(seed);
        if (where == 0) payout = address(router);
        else if (where == 1) payout = address(escrow);
        else if (where == 2) payout = address(0);
        bytes memory data = abi.encodeCall(merchants.setPayoutWallet, (id, payout));
        if (_own(Action.SetPayout, id, data, payout != address(0))) shops[id].payout = payout;
    }

    /// @dev The least price is none, one that stops next to nothing, or one that stops some of what buyers pay, at times all.
    function _setProductTerms(uint256 seed, uint256 id, bytes32 productId) private {
        uint16 rate = uint16(roll(seed, "rate", 10_500));
        uint256 most = roll(seed, "least", 4) * 1_000_000;
        uint64 minPrice = uint64(most == 0 ? 0 : roll(seed, "least price", most == 3_000_000 ? 52_000_000 : most));
        bytes memory data = abi.encodeCall(merchants.setProductTerms, (id, productId, rate, minPrice));
        if (!_own(Action.SetProductTerms, id, data, rate <= 10_000)) return;
        goods[id][productId].commissionBps = rate;
        goods[id][productId].minPrice = minPrice;
    }

    function _own(Action action, uint256 id, bytes memory data, bool expected) private returns (bool ok) {
        address owner = identities.ownerOf(id);
        ok = act(action, owner, address(merchants), data, expected);
        if (ok) adopt(id, owner);
    }

    function _endPauses() private {
        _escrowPausedFor = escrow.paused() ? _escrowPausedFor + 1 : 0;
        _tokenPausedFor = usdc.paused() ? _tokenPausedFor + 1 : 0;
        if (_escrowPausedFor > LONGEST_PAUSE) resumeEscrow();
        if (_tokenPausedFor > LONGEST_PAUSE) {
            vm.prank(admin);
            usdc.unpause();
        }
    }
}
